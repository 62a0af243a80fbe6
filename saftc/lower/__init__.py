"""The choice between several Python forms of a construct."""
