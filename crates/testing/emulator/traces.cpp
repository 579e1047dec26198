// What the threads of a launch's first block ask of memory, warp by warp: accesses that have the same number in each thread are one request. Of shared
// memory each of 16 banks gives one word of 64 bits at a time, to 128 bytes of a request; global memory has lines of 128 bytes and sectors of 32. This
// file is compiled behind the others, with TRACED, by `tools/card_traces.py` alone.
#include <dlfcn.h>
#include <initializer_list>
namespace emulator {
struct Access { u64 at, bytes; };
struct Traces { Access *list; u32 count, room; };
static Traces traces[THREADS];
// Requests of a kernel: how many, what they took, the least that their words take, and what the worst one took.
struct Seen { u64 requests, took, least, worst; };
struct Sums { char name[64]; u64 threads, launches; Seen shared, lines, sectors; };
static Sums sums[256];
static u32 sum_count;

void noted(const void *at, u64 bytes) {
    if (now.block) return;
    Traces &t = traces[threadIdx.x];
    if (t.count == t.room) {
        t.room = t.room ? 2 * t.room : 256, t.list = (Access *)realloc(t.list, t.room * sizeof(Access));
        if (!t.list) abort();
    }
    t.list[t.count++] = Access{(u64)at, bytes};
}
static void seen(Seen &s, u64 took, u64 least) { s.requests++, s.took += took, s.least += least, s.worst = took > s.worst ? took : s.worst; }
// How many numbers there are, each counted once and moved to the front.
static u64 distinct(u64 *list, u64 count) {
    u64 found = 0;
    for (u64 i = 0, j; i < count; i++) {
        for (j = 0; j < found && list[j] != list[i];) j++;
        if (j == found) list[found++] = list[i];
    }
    return found;
}
// The words of some accesses, each once.
static u64 words_of(const Access *list, u64 count, u64 *words) {
    u64 found = 0;
    for (u64 i = 0; i < count; i++)
        for (u64 at = list[i].at; at < list[i].at + list[i].bytes; at += 8) words[found++] = at / 8;
    return distinct(words, found);
}
static void shared_request(Seen &s, const Access *list, u64 count) {
    u64 each = 128 / list[0].bytes, took = 0, least = 0;
    for (u64 start = 0; start < count; start += each) {
        u64 words[128], banks[16] = {}, most = 0, found = words_of(list + start, count - start < each ? count - start : each, words);
        for (u64 i = 0; i < found; i++) most = ++banks[words[i] % 16] > most ? banks[words[i] % 16] : most;
        took += most, least += (found + 15) / 16;
    }
    seen(s, took, least);
}
static void global_request(Seen &s, const Access *list, u64 count, u64 unit) {
    u64 words[256], found = words_of(list, count, words), least = (8 * found + unit - 1) / unit;
    for (u64 i = 0; i < found; i++) words[i] = words[i] * 8 / unit;
    seen(s, distinct(words, found), least);
}
// Of the kernel that has just run.
void add_traces(u32 threads) {
    Dl_info own;
    const char *name = dladdr((void *)kernel, &own) && own.dli_sname ? own.dli_sname : "?";
    u32 at = 0;
    while (at < sum_count && strcmp(sums[at].name, name)) at++;
    if (at == 256) abort();
    if (at == sum_count) snprintf(sums[sum_count++].name, sizeof sums[0].name, "%s", name);
    Sums &s = sums[at];
    s.launches++, s.threads = threads;
    for (u32 warp = 0; warp < threads; warp += 32)
        for (u32 k = 0;; k++) {
            Access list[32];
            u64 count = 0;
            for (u32 i = warp; i < threads && i < warp + 32; i++)
                if (k < traces[i].count) list[count++] = traces[i].list[k];
            if (!count) break;
            if (list[0].at - (u64)shared_words < sizeof shared_words) shared_request(s.shared, list, count);
            else global_request(s.lines, list, count, 128), global_request(s.sectors, list, count, 32);
        }
    for (u32 i = 0; i < threads; i++) traces[i].count = 0;
}
}
// The figures of a kernel: threads of a block, launches; requests, what they took, the least and the worst of shared memory, lines and sectors. Null behind
// the last one.
extern "C" const char *traces_of(u32 which, u64 *figures) {
    if (which >= sum_count) return nullptr;
    const Sums &s = sums[which];
    *figures++ = s.threads, *figures++ = s.launches;
    for (const Seen *seen : {&s.shared, &s.lines, &s.sectors})
        *figures++ = seen->requests, *figures++ = seen->took, *figures++ = seen->least, *figures++ = seen->worst;
    return s.name;
}
// What was seen so far is forgotten.
extern "C" void traces_begin() { sum_count = 0, memset((void *)sums, 0, sizeof sums); }
