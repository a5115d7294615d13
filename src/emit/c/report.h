// Maps and values as acu prints them.
#pragma once

#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum part_kind { NUMBER, TEXT, BOOLEAN, ADDRESS };
enum value_kind { VALUE, STRING, MIN, MAX, AVERAGE, STATS, HIST, LHIST };

// A part of a key: where it is, how it prints. `size` is that of the script's type.
struct part {
  enum part_kind kind;
  int offset, bytes, size, is_signed;
};

struct map_info {
  const char *name;
  int fd;
  const struct part *parts;
  int part_count, key_bytes, value_bytes;
  enum value_kind kind;
  enum part_kind shown; // of VALUE
  int is_signed, bits;
  long long low, high, step;
};

struct entry {
  const struct map_info *map;
  char *key;
  char *value;
  unsigned long long *buckets;
  long long rank;
  int rank_is_signed;
};

static void print_number(enum part_kind kind, unsigned long long n, int is_signed)
{
  if (kind == BOOLEAN)
    printf("%s", n ? "true" : "false");
  else if (kind == ADDRESS)
    printf("0x%llx", n);
  else if (is_signed)
    printf("%lld", (long long)n);
  else
    printf("%llu", n);
}

static unsigned long long word_at(const char *at)
{
  unsigned long long n;
  memcpy(&n, at, sizeof(n));
  return n;
}

// Division of the size without its sign.
static long long divided(long long n, unsigned long long by, int is_signed)
{
  if (by <= 1)
    return n;
  if (is_signed && n < 0)
    return -(long long)(-(unsigned long long)n / by);
  return (long long)((unsigned long long)n / by);
}

// -------------------------------------------------------------------------------------------- histograms

static int bucket_count(const struct map_info *m)
{
  if (m->kind == LHIST)
    return (int)((m->high - m->low + m->step - 1) / m->step + 2);
  return 2 + (1 << m->bits) + ((63 - m->bits) << m->bits);
}

static void number_with_suffix(char *to, size_t room, unsigned __int128 n)
{
  int power = 0;
  while (n && n % 1024 == 0 && power < 6) {
    n /= 1024;
    power++;
  }
  snprintf(to, room, "%llu%.*s", (unsigned long long)n, power ? 1 : 0, "KMGTPE" + (power ? power - 1 : 0));
}

static void number_in_unit(char *to, size_t room, const struct map_info *m, long long n)
{
  long long unit = 1;
  const char *suffix = "";
  if (m->low % (1 << 20) == 0 && m->high % (1 << 20) == 0 && m->step % (1 << 20) == 0)
    unit = 1 << 20, suffix = "M";
  else if (m->low % 1024 == 0 && m->high % 1024 == 0 && m->step % 1024 == 0)
    unit = 1024, suffix = "K";
  snprintf(to, room, "%lld%s", n / unit, suffix);
}

static void bucket_label(char *to, size_t room, const struct map_info *m, int at)
{
  char low[32], high[32];
  if (m->kind == LHIST) {
    long long begin = m->low + (at - 1) * m->step;
    long long end = begin + m->step < m->high ? begin + m->step : m->high;
    number_in_unit(low, sizeof(low), m, at == bucket_count(m) - 1 ? m->high : begin);
    number_in_unit(high, sizeof(high), m, at ? end : m->low);
    if (at == 0)
      snprintf(to, room, "(..., %s)", high);
    else
      snprintf(to, room, at == bucket_count(m) - 1 ? "[%s, ...)" : "[%s, %s)", low, high);
    return;
  }
  if (at == 0) {
    snprintf(to, room, "(..., 0)");
    return;
  }
  at--;
  if (at < 1 << m->bits) {
    snprintf(to, room, "[%d]", at);
    return;
  }
  at -= 1 << m->bits;
  int shift = at >> m->bits;
  unsigned __int128 begin = (unsigned __int128)((1 << m->bits) + (at & ((1 << m->bits) - 1))) << shift;
  number_with_suffix(low, sizeof(low), begin);
  number_with_suffix(high, sizeof(high), begin + ((unsigned __int128)1 << shift));
  if (shift)
    snprintf(to, room, "[%s, %s)", low, high);
  else
    snprintf(to, room, "[%s]", low);
}

static void print_histogram(const struct map_info *m, const unsigned long long *buckets, unsigned long long div)
{
  int first = 0, end = bucket_count(m);
  unsigned long long most = 0;
  while (first < end && !buckets[first])
    first++;
  while (end > first && !buckets[end - 1])
    end--;
  for (int i = first; i < end; i++)
    if (buckets[i] / (div ? div : 1) > most)
      most = buckets[i] / (div ? div : 1);
  for (int i = first; i < end; i++) {
    char label[80], bar[53];
    unsigned long long n = buckets[i] / (div ? div : 1);
    int length = most ? (int)((unsigned __int128)n * 52 / most) : 0;
    memset(bar, '@', sizeof(bar));
    bucket_label(label, sizeof(label), m, i);
    printf("%-16s%8llu |%-52.*s|\n", label, n, length, bar);
  }
}

// -------------------------------------------------------------------------------------------------- maps

static int compare_keys(const struct map_info *m, const char *a, const char *b)
{
  for (int i = 0; i < m->part_count; i++) {
    const struct part *p = &m->parts[i];
    if (p->kind == TEXT) {
      int difference = memcmp(a + p->offset, b + p->offset, p->bytes);
      if (difference)
        return difference;
      continue;
    }
    long long x = (long long)word_at(a + p->offset), y = (long long)word_at(b + p->offset);
    if (p->size == 4)
      x = (int)x, y = (int)y;
    if (p->kind == ADDRESS ? (unsigned long long)x != (unsigned long long)y : x != y) {
      if (p->kind == ADDRESS)
        return (unsigned long long)x < (unsigned long long)y ? -1 : 1;
      return x < y ? -1 : 1;
    }
  }
  return 0;
}

static int compare_entries(const void *left, const void *right)
{
  const struct entry *a = left, *b = right;
  if (a->rank != b->rank) {
    if (a->rank_is_signed)
      return a->rank < b->rank ? -1 : 1;
    return (unsigned long long)a->rank < (unsigned long long)b->rank ? -1 : 1;
  }
  return compare_keys(a->map, a->key, b->key);
}

static long long average_of(const struct map_info *m, const char *value)
{
  unsigned long long count = word_at(value + 8);
  return count ? divided((long long)word_at(value), count, m->is_signed) : 0;
}

static void rank(struct entry *e)
{
  const struct map_info *m = e->map;
  e->rank_is_signed = m->is_signed;
  switch (m->kind) {
  case VALUE: e->rank = m->shown == NUMBER ? (long long)word_at(e->value) : 0; break;
  case MIN:
  case MAX: e->rank = (long long)word_at(e->value), e->rank_is_signed = 0; break;
  case AVERAGE:
  case STATS: e->rank = average_of(m, e->value); break;
  default: break;
  }
}

// All entries; of histograms the counters of one key together.
static struct entry *read_map(const struct map_info *m, size_t *count)
{
  int has_slots = m->kind == HIST || m->kind == LHIST, bytes = m->key_bytes - (has_slots ? 8 : 0);
  size_t room = 0;
  struct entry *all = NULL;
  char *key = calloc(1, m->key_bytes), *next = calloc(1, m->key_bytes);
  *count = 0;
  for (void *before = NULL; bpf_map_get_next_key(m->fd, before, next) == 0; before = key) {
    char *value = calloc(1, m->value_bytes);
    memcpy(key, next, m->key_bytes);
    if (bpf_map_lookup_elem(m->fd, key, value) != 0) {
      free(value);
      continue;
    }
    struct entry *e = NULL;
    for (size_t i = 0; has_slots && i < *count && !e; i++)
      if (memcmp(all[i].key, key, bytes) == 0)
        e = &all[i];
    if (!e) {
      if (*count == room)
        all = realloc(all, (room = room ? 2 * room : 64) * sizeof(*all));
      e = &all[(*count)++];
      *e = (struct entry){.map = m, .key = malloc(m->key_bytes), .value = value};
      memcpy(e->key, key, m->key_bytes);
      if (has_slots)
        e->buckets = calloc(bucket_count(m), sizeof(*e->buckets));
      rank(e);
    }
    if (has_slots) {
      unsigned long long slot = word_at(key + bytes), n = word_at(value);
      if (slot < (unsigned long long)bucket_count(m))
        e->buckets[slot] += n;
      e->rank += (long long)n;
      e->rank_is_signed = 0;
    }
  }
  free(key);
  free(next);
  qsort(all, *count, sizeof(*all), compare_entries);
  return all;
}

static void print_map(const struct map_info *m, size_t top, unsigned long long div)
{
  size_t count;
  struct entry *all = read_map(m, &count);
  for (size_t i = top && top < count ? count - top : 0; i < count; i++) {
    const struct entry *e = &all[i];
    printf("@%s", m->name);
    for (int p = 0; p < m->part_count; p++) {
      const struct part *part = &m->parts[p];
      printf(p ? ", " : "[");
      if (part->kind == TEXT)
        printf("%.*s", part->bytes, e->key + part->offset);
      else
        print_number(part->kind, word_at(e->key + part->offset), part->is_signed);
    }
    printf(m->part_count ? "]:%s" : ":%s", e->buckets ? "\n" : " ");
    switch (m->kind) {
    case STRING: printf("%.*s\n", m->value_bytes, e->value); break;
    case AVERAGE: print_number(NUMBER, (unsigned long long)divided(average_of(m, e->value), div, m->is_signed), m->is_signed), printf("\n"); break;
    case STATS:
      printf("{ .count = %llu, .average = ", word_at(e->value + 8));
      print_number(NUMBER, (unsigned long long)divided(average_of(m, e->value), div, m->is_signed), m->is_signed);
      printf(", .total = ");
      print_number(NUMBER, (unsigned long long)divided((long long)word_at(e->value), div, m->is_signed), m->is_signed);
      printf(" }\n");
      break;
    case HIST:
    case LHIST: print_histogram(m, e->buckets, div), printf("\n"); break;
    default: print_number(m->shown, (unsigned long long)divided((long long)word_at(e->value), div, m->is_signed), m->is_signed), printf("\n");
    }
  }
  for (size_t i = 0; i < count; i++)
    free(all[i].key), free(all[i].value), free(all[i].buckets);
  free(all);
}

static int is_empty(const struct map_info *m)
{
  char *key = calloc(1, m->key_bytes);
  int none = bpf_map_get_next_key(m->fd, NULL, key) != 0;
  free(key);
  return none;
}

static void clear_map(const struct map_info *m)
{
  char *key = calloc(1, m->key_bytes);
  while (bpf_map_get_next_key(m->fd, NULL, key) == 0 && bpf_map_delete_elem(m->fd, key) == 0) {
  }
  free(key);
}

static void zero_map(const struct map_info *m)
{
  char *key = calloc(1, m->key_bytes), *value = calloc(1, m->value_bytes);
  for (void *before = NULL; bpf_map_get_next_key(m->fd, before, key) == 0; before = key)
    bpf_map_update_elem(m->fd, key, value, BPF_EXIST);
  free(key);
  free(value);
}

// At the end: all that are not empty, after a blank line.
static void print_maps(const struct map_info *const *maps, size_t count)
{
  int blank = 1;
  for (size_t i = 0; i < count; i++) {
    if (is_empty(maps[i]))
      continue;
    if (blank)
      printf("\n");
    blank = 0;
    print_map(maps[i], 0, 0);
  }
}
