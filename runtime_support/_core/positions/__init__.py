"""Where in a script something happens: frames, source maps, errors that nothing catches."""
