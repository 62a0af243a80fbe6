"""The embedded model: llama.cpp in this process."""
