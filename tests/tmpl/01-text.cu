// A template without a directive is its own output.
int main(void) { return 0; }

  // indentation, blank lines and "quotes", 'c', %d and \n stay as they are
