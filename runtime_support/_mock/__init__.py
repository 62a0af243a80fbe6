"""The provider `mock`: answers by rules, for documentation and tests."""
