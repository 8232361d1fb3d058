/* launch_test.c - what the launcher knows of a cubin without a device */
#include "../../gen/launch.h"
#include "ok.h"

#include <elf.h>
#include <string.h>

/* An ELF header, one section header, 16 bytes of that section. */
static struct file {
  Elf64_Ehdr head;
  Elf64_Shdr section;
  char body[16];
} whole;

static void elves(void) {
  memcpy(whole.head.e_ident, ELFMAG, SELFMAG);
  whole.head.e_ident[EI_CLASS] = ELFCLASS64;
  whole.head.e_shoff = offsetof(struct file, section);
  whole.head.e_shnum = 1;
  whole.head.e_shentsize = sizeof(Elf64_Shdr);
  whole.section.sh_type = SHT_PROGBITS;
  whole.section.sh_offset = offsetof(struct file, body);
  whole.section.sh_size = sizeof whole.body;
  size_t taken = 0;
  ok(loom_whole_elf(&whole, sizeof whole), "a whole ELF file is known as one");
  for (size_t n = 0; n < sizeof whole; n++) {
    char cut[sizeof whole]; /* exact, so that ASan sees a read past the end */
    memcpy(cut + sizeof cut - n, &whole, n);
    taken += loom_whole_elf(cut + sizeof cut - n, n);
  }
  ok(taken == 0, "one cut at any of its %zu bytes is not", sizeof whole);
  whole.head.e_shoff = ~0ull - 8;
  ok(!loom_whole_elf(&whole, sizeof whole), "nor one whose offsets wrap around");
  ok(!loom_whole_elf("// text, no cubin, but as long as an ELF header, which has 64 bytes", 66),
     "nor a text");
}

int main(void) {
  elves();
  return done();
}
