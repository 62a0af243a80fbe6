"""The embedded model: llama.cpp, running in this process."""
