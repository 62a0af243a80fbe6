// What the grammar of Saft cannot say: where lines and blocks end, and which words are keywords, though
// they are names elsewhere. The rules are those of saftc/syntax/lexer.py.

#include "tree_sitter/parser.h"

#include <stdlib.h>
#include <string.h>

// As `externals` in grammar.js.
enum Kind {
  NEWLINE,
  INDENT,
  DEDENT,
  PATTERN_START,
  FUNCTION,
  TYPE,
  CONV,
  FROM,
  MCP,
  IMPORT,
  TRY,
  EXCEPT,
  FAIL,
  DO,
  PROGRAM,
  STREAM,
  // Valid only where the parser tries everything.
  ERROR,
};

// saftc reads at most 20.
#define MOST_BLOCKS 100
#define LONGEST_WORD 8

typedef struct {
  uint16_t indents[MOST_BLOCKS];
  uint16_t depth;
} Scanner;

static const struct {
  const char *text;
  enum Kind kind;
} WORDS[] = {
    {"f", FUNCTION}, {"type", TYPE},     {"conv", CONV}, {"from", FROM}, {"mcp", MCP},         {"import", IMPORT},
    {"try", TRY},    {"except", EXCEPT}, {"fail", FAIL}, {"do", DO},     {"program", PROGRAM}, {"stream", STREAM},
};

// What goes on with a value behind a word, which is then a name.
static const char *const BEHIND_VALUES[] = {"and", "or", "in", "not", "if", "else", "for", "is"};

static bool is_letter(int32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }

static bool pass_blanks(TSLexer *lexer) {
  bool any = false;
  while (lexer->lookahead == ' ' || lexer->lookahead == '\t') {
    lexer->advance(lexer, false);
    any = true;
  }
  return any;
}

// Reads a word; of one that is longer than any of ours, the rest is passed over.
static void read_word(TSLexer *lexer, char word[LONGEST_WORD + 1]) {
  unsigned length = 0;
  while (is_letter(lexer->lookahead) || is_digit(lexer->lookahead)) {
    if (length < LONGEST_WORD) word[length] = (char)lexer->lookahead;
    if (length <= LONGEST_WORD) length++;
    lexer->advance(lexer, false);
  }
  word[length > LONGEST_WORD ? 0 : length] = 0;
}

static bool goes_on_behind_value(const char *word) {
  for (unsigned i = 0; i < sizeof BEHIND_VALUES / sizeof *BEHIND_VALUES; i++) {
    if (!strcmp(word, BEHIND_VALUES[i])) return true;
  }
  return false;
}

// Whether a prompt comes, maybe behind `do` or `program`.
static bool begins_prompt(TSLexer *lexer) {
  char word[LONGEST_WORD + 1];
  pass_blanks(lexer);
  if (is_letter(lexer->lookahead)) {
    read_word(lexer, word);
    if (strcmp(word, "do") && strcmp(word, "program")) return false;
    pass_blanks(lexer);
  }
  return lexer->lookahead == '$';
}

// Whether `fail value` comes, and not the name `fail` or a call of it.
static bool begins_failure(TSLexer *lexer) {
  char word[LONGEST_WORD + 1];
  bool is_apart = pass_blanks(lexer);
  int32_t next = lexer->lookahead;
  if (next == '"' || next == '$' || is_digit(next)) return true;
  if (is_letter(next)) {
    read_word(lexer, word);
    if (strcmp(word, "not")) return !goes_on_behind_value(word);
    // `fail not ready`, but `fail not in words`.
    pass_blanks(lexer);
    read_word(lexer, word);
    return strcmp(word, "in") != 0;
  }
  if (!is_apart) return false;
  if (next == '-') {
    lexer->advance(lexer, false);
    return lexer->lookahead != ' ' && lexer->lookahead != '\t' && lexer->lookahead != '=';
  }
  return next == '(' || next == '[' || next == '{';
}

// Whether a word that was just read is the keyword that it looks like.
static bool is_keyword(TSLexer *lexer, enum Kind kind) {
  char word[LONGEST_WORD + 1];
  switch (kind) {
    case DO:
    case PROGRAM:
      pass_blanks(lexer);
      return lexer->lookahead == '$';
    case STREAM:
      return begins_prompt(lexer);
    case FAIL:
      return begins_failure(lexer);
    case MCP:
      pass_blanks(lexer);
      return lexer->lookahead == '(';
    case TRY:
      pass_blanks(lexer);
      return lexer->lookahead == ':';
    case EXCEPT:
      pass_blanks(lexer);
      if (lexer->lookahead == ':') return true;
      if (!is_letter(lexer->lookahead)) return false;
      read_word(lexer, word);
      return !goes_on_behind_value(word);
    default:
      pass_blanks(lexer);
      // `from .names import one`
      return is_letter(lexer->lookahead) || (kind == FROM && lexer->lookahead == '.');
  }
}

static bool scan_word(TSLexer *lexer, const bool *valid) {
  char word[LONGEST_WORD + 1];
  read_word(lexer, word);
  lexer->mark_end(lexer);
  for (unsigned i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
    if (!strcmp(word, WORDS[i].text) && valid[WORDS[i].kind] && is_keyword(lexer, WORDS[i].kind)) {
      lexer->result_symbol = WORDS[i].kind;
      return true;
    }
  }
  return false;
}

bool tree_sitter_saft_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
  Scanner *scanner = payload;
  bool is_recovering = valid[ERROR];
  bool is_at_layout = valid[NEWLINE] || valid[INDENT] || valid[DEDENT];
  bool ends_line = false;
  uint32_t width = 0;
  int32_t first_comment = -1;

  lexer->mark_end(lexer);
  for (;;) {
    int32_t next = lexer->lookahead;
    if (next == '\n') {
      ends_line = true;
      width = 0;
      lexer->advance(lexer, true);
    } else if (next == ' ') {
      width++;
      lexer->advance(lexer, true);
    } else if (next == '\t') {
      width += 4 - width % 4;
      lexer->advance(lexer, true);
    } else if (next == '\r') {
      lexer->advance(lexer, true);
    } else if (next == '/' && is_at_layout && ends_line) {
      lexer->advance(lexer, true);
      if (lexer->lookahead != '/') return false;
      if (first_comment < 0) first_comment = (int32_t)width;
      while (lexer->lookahead != '\n' && !lexer->eof(lexer)) lexer->advance(lexer, true);
    } else if (lexer->eof(lexer)) {
      ends_line = true;
      width = 0;
      break;
    } else {
      break;
    }
  }

  if (ends_line) {
    uint16_t current = scanner->depth ? scanner->indents[scanner->depth - 1] : 0;
    if (valid[INDENT] && width > current && scanner->depth < MOST_BLOCKS) {
      scanner->indents[scanner->depth++] = (uint16_t)(width > UINT16_MAX ? UINT16_MAX : width);
      lexer->result_symbol = INDENT;
      return true;
    }
    // A comment that is as deep as the block belongs to it.
    if (valid[DEDENT] && width < current && first_comment < (int32_t)current) {
      scanner->depth--;
      lexer->result_symbol = DEDENT;
      return true;
    }
    if (valid[NEWLINE] && !is_recovering) {
      lexer->result_symbol = NEWLINE;
      return true;
    }
  }
  // A comment was passed over, which is a token of its own.
  if (first_comment >= 0) return false;

  // In what cannot be read, a line's first word may begin what can be.
  if (is_recovering && !ends_line) return false;
  if (valid[PATTERN_START] && lexer->lookahead == '{') {
    lexer->advance(lexer, false);
    lexer->mark_end(lexer);
    lexer->result_symbol = PATTERN_START;
    return true;
  }
  return is_letter(lexer->lookahead) && scan_word(lexer, valid);
}

void *tree_sitter_saft_external_scanner_create(void) { return calloc(1, sizeof(Scanner)); }

void tree_sitter_saft_external_scanner_destroy(void *payload) { free(payload); }

unsigned tree_sitter_saft_external_scanner_serialize(void *payload, char *buffer) {
  Scanner *scanner = payload;
  unsigned size = scanner->depth * sizeof(uint16_t);
  memcpy(buffer, scanner->indents, size);
  return size;
}

void tree_sitter_saft_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  Scanner *scanner = payload;
  scanner->depth = (uint16_t)(length / sizeof(uint16_t));
  if (length) memcpy(scanner->indents, buffer, length);
}
