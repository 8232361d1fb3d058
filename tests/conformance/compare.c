/* compare.c - are two files of vectors the same?
**
**   compare WANT GOT
**
** WANT is what a GPU left, GOT what the CPU device did. Both must have every case of table.h, once
** and in its order, and nothing else: what is missing is a difference. Of the heads only this is
** looked at: a GPU made WANT.
**
** A line "case NAME unrecorded" in WANT stands for a case that no GPU has run yet. It is told, and
** counted as neither equal nor different.
*/
#include "vectors.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 1 << 17, MAX_NAMES = 256, TOLD = 4 };

struct vector {
  char name[64];
  uint32_t count, shown;
  unsigned long long fnv;
  uint32_t words[MAX_WORDS];
};

static struct file {
  FILE *f;
  const char *path;
  char line[1024];
  int have; /* a line that is not taken yet */
} files[2];
static struct vector want, got;

static void die(const char *path, const char *why) {
  fprintf(stderr, "conformance: %s: %s\n", path, why);
  exit(2);
}

static int peek(struct file *f) {
  if (!f->have) f->have = fgets(f->line, sizeof f->line, f->f) != NULL;
  return f->have;
}

static void read_words(struct file *f, struct vector *v) {
  v->shown = 0;
  while (peek(f) && strncmp(f->line, "case ", 5) != 0 && strncmp(f->line, "end ", 4) != 0) {
    char *at = f->line, *end;
    for (uint32_t w; w = (uint32_t)strtoul(at, &end, 16), end != at; at = end) {
      if (v->shown == MAX_WORDS) die(f->path, "too many words in a case");
      v->words[v->shown++] = w;
    }
    f->have = 0;
  }
}

/* Is the next line a case of this name that no GPU has run? It is taken then. */
static int unrecorded(struct file *f, const struct conform_case *c) {
  char line[160];
  snprintf(line, sizeof line, "case %s unrecorded\n", c->name);
  if (!peek(f) || strcmp(f->line, line) != 0) return 0;
  printf("%s: not recorded on a GPU yet\n", c->name);
  f->have = 0;
  return 1;
}

/* The next case, which must be this one. */
static void read_case(struct file *f, const struct conform_case *c, struct vector *v) {
  char why[160];
  snprintf(why, sizeof why, "case %s is missing, or not in its place", c->name);
  if (!peek(f) || sscanf(f->line, "case %63s %u %llx", v->name, &v->count, &v->fnv) != 3 ||
      strcmp(v->name, c->name) != 0 || v->count != c->out)
    die(f->path, why);
  f->have = 0;
  read_words(f, v);
  uint32_t least = c->out <= CONFORM_SHOWN ? c->out : CONFORM_FIRST;
  if (v->shown != c->out && v->shown != least) die(f->path, "a case has too few words");
}

static int differs(const struct conform_case *c) {
  uint32_t both = want.shown < got.shown ? want.shown : got.shown, told = 0, wrong = 0;
  for (uint32_t i = 0; i < both; i++) {
    if (want.words[i] == got.words[i]) continue;
    if (told++ < TOLD)
      printf("%s: word %u: want %08x, got %08x\n", c->name, i, want.words[i], got.words[i]);
    wrong++;
  }
  if (wrong > TOLD) printf("%s: %u of %u words differ\n", c->name, wrong, both);
  if (wrong == 0 && want.fnv != got.fnv)
    printf("%s: the first %u words are equal, the hash of all %u is not\n", c->name, both, c->out);
  return wrong != 0 || want.fnv != got.fnv;
}

/* ---- primitives: equal if every case that shows them is ---- */

static struct {
  char name[48];
  int wrong;
} primitives[MAX_NAMES];
static int known;

static void judge(const char *name, size_t size, int wrong) {
  int i = 0;
  while (i < known && (strncmp(primitives[i].name, name, size) != 0 || primitives[i].name[size]))
    i++;
  if (i == known) {
    if (known == MAX_NAMES || size >= sizeof primitives[0].name) die("table.h", "too many names");
    memcpy(primitives[known++].name, name, size);
  }
  primitives[i].wrong |= wrong;
}

static void judge_all(const char *names, int wrong) {
  while (*names) {
    size_t size = strcspn(names, " ");
    if (size) judge(names, size, wrong);
    names += size + (names[size] == ' ');
  }
}

/* What the CPU device printed is not what it is to be compared with. */
static void read_head(struct file *f, int of_gpu) {
  int gpu = 0;
  for (; peek(f) && strncmp(f->line, "case ", 5) != 0; f->have = 0)
    if (strncmp(f->line, "gpu ", 4) == 0) gpu = strncmp(f->line, "gpu none", 8) != 0;
  if (of_gpu && !gpu) die(f->path, "no GPU made it");
}

static void open_file(struct file *f, const char *path, int of_gpu) {
  f->path = path;
  f->f = fopen(path, "r");
  if (!f->f) die(path, "cannot be read");
  if (!peek(f) || strcmp(f->line, "conformance 1\n") != 0) die(path, "no file of vectors");
  read_head(f, of_gpu);
}

static void close_file(struct file *f) {
  int cases = -1;
  if (!peek(f) || sscanf(f->line, "end %d cases", &cases) != 1 || cases != conform_count)
    die(f->path, "it does not end with the last case");
  f->have = 0;
  if (peek(f)) die(f->path, "something follows its end");
  fclose(f->f);
}

int main(int argc, char **argv) {
  int wrong_cases = 0, later = 0, equal = 0;
  if (argc != 3) die("usage", "compare WANT GOT");
  for (int i = 0; i < 2; i++) open_file(&files[i], argv[1 + i], i == 0);
  for (int i = 0; i < conform_count; i++) {
    int skipped = unrecorded(&files[0], &conform_cases[i]);
    if (!skipped) read_case(&files[0], &conform_cases[i], &want);
    read_case(&files[1], &conform_cases[i], &got);
    later += skipped;
    if (skipped) continue;
    int wrong = differs(&conform_cases[i]);
    wrong_cases += wrong;
    judge_all(conform_cases[i].primitives, wrong);
  }
  for (int i = 0; i < 2; i++) close_file(&files[i]);
  for (int i = 0; i < known; i++) equal += !primitives[i].wrong;
  printf("conformance: %d of %d primitives equal (%d of %d cases)\n", equal, known,
         conform_count - wrong_cases - later, conform_count);
  return wrong_cases != 0;
}
