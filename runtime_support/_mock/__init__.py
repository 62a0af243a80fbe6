"""The provider `mock`: answers by rules, for documents and tests."""
