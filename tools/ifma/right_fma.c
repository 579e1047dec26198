/* Corrects the fused multiply-add of Bochs 2.7; loaded with LD_PRELOAD by run_ifma.sh.
 *
 * The function of Bochs is wrong for one in a thousand double-precision sums that cancel, on which the AVX2 kernels rest,
 * and Rust uses AVX-512 only where it finds FMA. So its first bytes become a jump to the fma of the C library, which is
 * exact. It rounds to nearest and raises no flags: enough for Aglet. Other versions of Bochs stay as they are.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NEGATE_C = 1, NEGATE_PRODUCT = 2, NEGATE_RESULT = 4 };

static double number(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static uint64_t right_fma(uint64_t a, uint64_t b, uint64_t c, int flags, void *status) {
  (void)status;
  double x = flags & NEGATE_PRODUCT ? -number(a) : number(a);
  double r = fma(x, number(b), flags & NEGATE_C ? -number(c) : number(c));
  uint64_t bits;
  if (flags & NEGATE_RESULT) r = -r;
  memcpy(&bits, &r, sizeof bits);
  return bits;
}

__attribute__((constructor)) static void correct(void) {
  uint8_t *code = dlsym(RTLD_DEFAULT, "_Z14float64_muladdmmmiR14float_status_t");
  if (!code) return; /* another program, or another Bochs */
  uint8_t jump[] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0}; /* mov rax, right_fma; jmp rax */
  uint64_t to = (uint64_t)(uintptr_t)right_fma;
  memcpy(jump + 2, &to, sizeof to);
  uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE), page = (uintptr_t)code & ~(size - 1);
  if (mprotect((void *)page, 2 * size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
    perror("right_fma");
    _exit(3);
  }
  memcpy(code, jump, sizeof jump);
  mprotect((void *)page, 2 * size, PROT_READ | PROT_EXEC);
}
