/* Loops over very many scores and counts, which are compiled if there is a C compiler when the package is installed.

   compiled.py checks the arguments and calls these loops. If they are missing, NumPy does the same, with the same
   results bit for bit. The loops do not use Python, so threads that run them do not wait for each other. */

#include <float.h>
#include <stdint.h>
#include <string.h>

#define CELLS_BELOW_ZERO 2048

#define PREFETCH(address) __builtin_prefetch(address, 1)

/* Loops that benefit from wider vectors are compiled for those too, and the processor selects a version when the
   library is loaded. The results are the same. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

/* Increase this with every change of a signature, here and in compiled.py. A library of another version is not used. */
int64_t version(void)
{
    return 14;
}

/* A layout of bins. Most scores usually have absolute values in a range in which all bins have the same length: their
   bin is floor((score - offset) * scale) plus a number that depends on the sign. The bin of any other score is found by
   the cell of its key. compiled.py has the same structure. */
typedef struct {
    int64_t low_bits;      /* the bits of a key below its cell */
    const int64_t *shifts; /* by cell: log2 of the number of keys in a bin */
    const int64_t *base;   /* by cell: added to a shifted key, it gives the number of the bin */
    double lowest, highest; /* the range of absolute values: empty if lowest > highest, everything if lowest is -inf */
    double sign;            /* -1 if the same holds for negative scores, otherwise 1 */
    double offset, scale;
    int64_t above, below; /* added for positive and for negative scores */
} layout;

/* The key of a score has the same order as the score: it is its bits or, for negative floats, minus the bits of its
   absolute value. */
#define KEY(name, real, integer, sizes)                                                                        \
    static inline int64_t name(real score)                                                                     \
    {                                                                                                          \
        integer bits;                                                                                          \
        memcpy(&bits, &score, sizeof bits);                                                                    \
        return bits < 0 ? -(int64_t)(bits & sizes) : (int64_t)bits;                                            \
    }

KEY(key_float32, float, int32_t, INT32_MAX)
KEY(key_float64, double, int64_t, INT64_MAX)

static inline int64_t bin_of(int64_t key, const layout *bins)
{
    int64_t cell = (key >> bins->low_bits) + CELLS_BELOW_ZERO;
    return (int64_t)((uint64_t)(key >> bins->shifts[cell]) + (uint64_t)bins->base[cell]);
}

/* Write the bins of a block of scores. The last block may have fewer rows than `bin` has room for. Compilers vectorise
   the loops over a range. */
#define BLOCK 64
#define BINS(name, real, integer, key_of)                                                                      \
    static inline void name(const real *score, int64_t rows, const layout *bins, int32_t *bin)                 \
    {                                                                                                          \
        real padded[BLOCK];                                                                                    \
        if (rows < BLOCK) {                                                                                    \
            for (int64_t j = 0; j < BLOCK; j++)                                                                \
                padded[j] = score[j < rows ? j : 0];                                                           \
            score = padded;                                                                                    \
        }                                                                                                      \
        const real lowest = (real)bins->lowest, highest = (real)bins->highest, sign = (real)bins->sign;        \
        const real offset = (real)bins->offset, scale = (real)bins->scale;                                     \
        const int32_t above = (int32_t)bins->above, below = (int32_t)(bins->below - bins->above);              \
        integer outside = lowest > highest;                                                                    \
        for (int j = 0; j < BLOCK && bins->lowest > -DBL_MAX; j++) {                                           \
            real other = score[j] * sign, size = score[j] > other ? score[j] : other;                          \
            outside |= (integer)!(size >= lowest) | (integer)!(size <= highest);                               \
        }                                                                                                      \
        if (outside) {                                                                                         \
            for (int j = 0; j < BLOCK; j++)                                                                    \
                bin[j] = (int32_t)bin_of(key_of(score[j]), bins);                                              \
            return;                                                                                            \
        }                                                                                                      \
        for (int j = 0; j < BLOCK; j++)                                                                        \
            bin[j] = (int32_t)((score[j] - offset) * scale) + above;                                           \
        if (sign < 0)                                                                                          \
            for (int j = 0; j < BLOCK; j++) {                                                                  \
                int32_t negative = score[j] < 0;                                                               \
                int32_t cut = (real)(bin[j] - above) > (score[j] - offset) * scale;                            \
                bin[j] += negative * below - cut;                                                              \
            }                                                                                                  \
    }

BINS(bins_of_float32, float, int32_t, key_float32)
BINS(bins_of_float64, double, int64_t, key_float64)

/* Counts have one byte each, so that more of them stay in the cache. When a byte overflows, `carries` counts that. It
   may be NULL where counts are read, if none did: memory that nobody has written to is slow to read. */
static inline int64_t count_one(uint8_t *small, uint32_t *carries, int64_t place)
{
    return ++small[place] ? 0 : (carries[place]++, 1);
}

static inline int64_t counted(const uint8_t *small, const uint32_t *carries, int64_t place)
{
    return small[place] + (carries ? 256 * (int64_t)carries[place] : 0);
}

/* Count the scores of negatives and positives in bins, and return how many bytes overflowed. Places are found for a
   block of rows at a time, so that the memory of one place is being fetched while others are counted, unless there are
   so few bins that they are in the cache anyway. */
#define NEAR (1 << 17)
#define COUNT(name, real, bins_of)                                                                             \
    WIDE int64_t name(const real *score, const uint8_t *positive, int64_t n, const layout *bins, int64_t size, \
                      uint8_t *small, uint32_t *carries)                                                       \
    {                                                                                                          \
        int32_t place[BLOCK];                                                                                  \
        int64_t full = 0;                                                                                      \
        for (int64_t i = 0; i < n; i += BLOCK) {                                                               \
            int64_t rows = n - i < BLOCK ? n - i : BLOCK;                                                      \
            bins_of(score + i, rows, bins, place);                                                             \
            for (int64_t j = 0; j < rows; j++)                                                                 \
                place[j] = 2 * place[j] + (positive[i + j] != 0);                                              \
            for (int64_t j = 0; j < rows && size > NEAR; j++)                                                  \
                PREFETCH(&small[place[j]]);                                                                    \
            for (int64_t j = 0; j < rows; j++)                                                                 \
                full += count_one(small, carries, place[j]);                                                   \
        }                                                                                                      \
        return full;                                                                                           \
    }

COUNT(count_float32, float, bins_of_float32)
COUNT(count_float64, double, bins_of_float64)

/* Add counts to others. */
void add_counts(uint8_t *small, uint32_t *carries, const uint8_t *other, const uint32_t *other_carries, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int sum = small[i] + other[i];
        small[i] = (uint8_t)sum;
        carries[i] += other_carries[i] + (uint32_t)(sum >> 8);
    }
}

/* Members of wanted bins. Members of a bin with few keys are counted by key, and the keys of others are written. */
#define WRITTEN INT64_MIN
typedef struct {
    const uint64_t *wanted; /* one bit per bin */
    const int64_t *before;  /* by block of 64 bins: the number of wanted bins before it */
    const int64_t *slot;    /* by wanted bin: added to a key, it gives the place of its counts; or WRITTEN */
    uint8_t *small;
    uint32_t *carries;
} members;

/* Count members or write their keys. `found` holds the numbers of keys of negatives and of positives that were written.
   The members among some rows are collected before they are counted, so that the memory of their counts is being fetched
   meanwhile. */
#define ROWS 256
#define GATHER(name, real, integer, key_of, bins_of)                                                           \
    WIDE void name(const real *score, const uint8_t *positive, int64_t n, const layout *bins,                  \
                   const members *wanted, integer *neg, integer *pos, int64_t *found)                          \
    {                                                                                                          \
        int32_t bin[ROWS], queued[ROWS + 1];                                                                   \
        int64_t place[ROWS];                                                                                   \
        integer *keys[2] = {neg, pos};                                                                         \
        const uint64_t *bits = wanted->wanted;                                                                 \
        found[0] = found[1] = 0;                                                                               \
        for (int64_t i = 0; i < n; i += ROWS) {                                                                \
            int64_t rows = n - i < ROWS ? n - i : ROWS;                                                        \
            int size = 0;                                                                                      \
            for (int64_t j = 0; j < rows; j += BLOCK)                                                          \
                bins_of(score + i + j, rows - j < BLOCK ? rows - j : BLOCK, bins, bin + j);                    \
            for (int32_t j = 0; j < rows; j++) {                                                               \
                queued[size] = j;                                                                              \
                size += (bits[bin[j] >> 6] >> (bin[j] & 63)) & 1;                                              \
            }                                                                                                  \
            for (int q = 0; q < size; q++) {                                                                   \
                int32_t own = bin[queued[q]], word = own >> 6;                                                 \
                uint64_t below = ((uint64_t)1 << (own & 63)) - 1;                                              \
                place[q] = wanted->before[word] + __builtin_popcountll(bits[word] & below);                                    \
                PREFETCH(&wanted->slot[place[q]]);                                                             \
            }                                                                                                  \
            for (int q = 0; q < size; q++) {                                                                   \
                int64_t row = i + queued[q], slot = wanted->slot[place[q]], key = key_of(score[row]);          \
                int label = positive[row] != 0;                                                                \
                place[q] = slot == WRITTEN ? WRITTEN : 2 * (key + slot) + label;                               \
                if (slot == WRITTEN)                                                                           \
                    keys[label][found[label]++] = (integer)key;                                                \
                else                                                                                           \
                    PREFETCH(&wanted->small[place[q]]);                                                        \
            }                                                                                                  \
            for (int q = 0; q < size; q++)                                                                     \
                if (place[q] != WRITTEN)                                                                       \
                    count_one(wanted->small, wanted->carries, place[q]);                                       \
        }                                                                                                      \
    }

GATHER(gather_float32, float, int32_t, key_float32, bins_of_float32)
GATHER(gather_float64, double, int64_t, key_float64, bins_of_float64)

/* Return how many vertices remain if a point is added to the hull of the points before it, none of which is further
   right or higher. Products are exact. */
static inline int64_t staying(const int64_t *x, const int64_t *y, int64_t size, int64_t new_x, int64_t new_y)
{
    for (; size > 1; size--) {
        int64_t a = size - 2, b = size - 1;
        if ((__int128)(y[b] - y[a]) * (new_x - x[a]) > (__int128)(x[b] - x[a]) * (new_y - y[a]))
            break;
    }
    return size;
}

/* The hull of some of the points of a chain. Points of the chain below its edges are not vertices of the whole hull,
   which makes most tests on the whole hull unnecessary. `gap` is the height of the last point of the chain that was
   passed above the current edge, times the length dx of the edge. */
typedef struct {
    int64_t *x, *y;
    int64_t size, edge, dx, dy;
    __int128 gap;
} edges;

static inline void add_to_edges(edges *outer, int64_t x, int64_t y)
{
    outer->size = staying(outer->x, outer->y, outer->size, x, y);
    outer->x[outer->size] = x;
    outer->y[outer->size++] = y;
}

/* Go to an edge, at whose beginning the chain is. After the last edge there are no points. */
static inline void begin_edge(edges *outer, int64_t edge)
{
    int64_t next = edge + 1 < outer->size ? edge + 1 : edge;
    outer->edge = edge;
    outer->dx = outer->x[next] - outer->x[edge];
    outer->dy = outer->y[next] - outer->y[edge];
    outer->gap = 0;
}

static inline __int128 rise(const edges *outer, int64_t neg, int64_t pos)
{
    return (__int128)pos * outer->dx - (__int128)neg * outer->dy;
}

/* Pass the next point of the chain, at (x, y), and return whether it is not below its edge. */
static inline int reaches_edge(edges *outer, int64_t neg, int64_t pos, int64_t x, int64_t y)
{
    outer->gap += rise(outer, neg, pos);
    if (outer->gap < 0)
        return 0;
    if (outer->edge + 1 < outer->size && x == outer->x[outer->edge + 1] && y == outer->y[outer->edge + 1])
        begin_edge(outer, outer->edge + 1);
    return 1;
}

/* Divide the chain of filled bins, from the highest down, where it may have a vertex. There is one part for each bin
   that may hold a vertex or that begins or ends at a vertex of the bins' boundaries (`wanted`), and one for all bins
   between two of those. A bin that begins at a vertex holds the next lower score after its threshold. Write the highest
   bin of each part, and return the number of parts. All arrays except `wanted` have room for one more entry than there
   are bins, or than there are full blocks. Blocks of bins (whose size compiled.py has too) that lie below the hull as a
   whole are not looked at bin by bin. */
#define TOGETHER 16
WIDE int64_t cut(const uint8_t *small, const uint32_t *carries, int64_t bins, int64_t *x, int64_t *y, int64_t *end,
            int64_t *code, int64_t *neg, int64_t *pos, int64_t *block_neg, int64_t *block_pos, uint8_t *wanted)
{
    edges outer = {code, neg, 1, 0, 0, 0, 0};
    int64_t size = 1, parts = 0, at_x = 0, at_y = 0, previous = 1, begins = 1;
    x[0] = y[0] = code[0] = neg[0] = 0;
    end[0] = bins;
    for (int64_t top = bins, block = 0; top > 0; top -= TOGETHER, block++) {
        int64_t low = top > TOGETHER ? top - TOGETHER : 0, more[2] = {0, 0};
        uint16_t sums[2] = {0, 0}; /* of at most 16 bytes each */
        for (int64_t bin = low; bin < top; bin++) {
            sums[0] = (uint16_t)(sums[0] + small[2 * bin]);
            sums[1] = (uint16_t)(sums[1] + small[2 * bin + 1]);
        }
        for (int64_t place = 2 * low; carries && place < 2 * top; place++)
            more[place & 1] += 256 * (int64_t)carries[place];
        at_x += block_neg[block] = sums[0] + more[0];
        at_y += block_pos[block] = sums[1] + more[1];
        if (block_neg[block] || block_pos[block])
            add_to_edges(&outer, at_x, at_y);
    }
    at_x = at_y = 0;
    begin_edge(&outer, 0);
    for (int64_t top = bins, block = 0; top > 0; top -= TOGETHER, block++) {
        if ((!block_neg[block] && !block_pos[block]) || outer.gap + rise(&outer, 0, block_pos[block]) < 0) {
            outer.gap += rise(&outer, block_neg[block], block_pos[block]);
            at_x += block_neg[block];
            at_y += block_pos[block];
            continue;
        }
        int above = 0; /* whether the corner of a bin is: the negatives of such blocks are marked by an inversion */
        for (int64_t bin = top - 1; bin >= 0 && bin >= top - TOGETHER; bin--) {
            int64_t in_neg = counted(small, carries, 2 * bin), in_pos = counted(small, carries, 2 * bin + 1);
            if (!in_neg && !in_pos)
                continue;
            at_x += in_neg;
            at_y += in_pos;
            above |= outer.gap + rise(&outer, 0, in_pos) >= 0;
            if (reaches_edge(&outer, in_neg, in_pos, at_x, at_y)) {
                size = staying(x, y, size, at_x, at_y);
                x[size] = at_x;
                y[size] = at_y;
                end[size++] = bin;
            }
        }
        if (above)
            block_neg[block] = ~block_neg[block];
    }
    edges hull = {x, y, size, 0, 0, 0, 0};
    begin_edge(&hull, 0);
    for (int64_t top = bins, block = 0; top > 0; top -= TOGETHER, block++) {
        if (!block_neg[block] && !block_pos[block])
            continue;
        if (!previous && !begins && block_neg[block] >= 0) {
            neg[parts - 1] += block_neg[block];
            pos[parts - 1] += block_pos[block];
            hull.gap += rise(&hull, block_neg[block], block_pos[block]);
            continue;
        }
        for (int64_t bin = top - 1; bin >= 0 && bin >= top - TOGETHER; bin--) {
            int64_t in_neg = counted(small, carries, 2 * bin), in_pos = counted(small, carries, 2 * bin + 1);
            if (!in_neg && !in_pos)
                continue;
            int last = bin == end[hull.edge + 1], open = begins || last || hull.gap + rise(&hull, 0, in_pos) > 0;
            if (open || previous) {
                code[parts] = bin;
                wanted[parts] = (uint8_t)open;
                neg[parts] = pos[parts] = 0;
                parts++;
            }
            neg[parts - 1] += in_neg;
            pos[parts - 1] += in_pos;
            hull.gap += rise(&hull, in_neg, in_pos);
            previous = open;
            begins = last;
            if (last)
                begin_edge(&hull, hull.edge + 1);
        }
    }
    return parts;
}

/* The vertices of the hull of a chain in which every open part is replaced by its members. */
typedef struct {
    int64_t *x, *y, *low, *shift, *neg, *pos; /* of the part that ends there */
    int64_t *next;                            /* the lowest key of the next part */
    int64_t *edge_x, *edge_y;                 /* room for the hull of the parts before they are replaced */
} vertices;

/* The state of a hull under construction: vertices, examples, and whether the last point is a vertex. */
typedef struct {
    int64_t size, x, y, fresh;
} progress;

static inline void add_part(const vertices *hull, progress *done, edges *outer, int64_t low, int64_t shift, int64_t neg,
                            int64_t pos)
{
    if (done->fresh)
        hull->next[done->size - 1] = low;
    done->x += neg;
    done->y += pos;
    done->fresh = reaches_edge(outer, neg, pos, done->x, done->y);
    if (!done->fresh)
        return;
    int64_t at = staying(hull->x, hull->y, done->size, done->x, done->y);
    hull->x[at] = done->x;
    hull->y[at] = done->y;
    hull->low[at] = low;
    hull->shift[at] = shift;
    hull->neg[at] = neg;
    hull->pos[at] = pos;
    done->size = at + 1;
}

/* The parts of a chain are ordered from the highest keys down, and the slots of the open parts from the lowest up. Keys
   that were written are sorted, and each part takes as many of them as it had members. Return the number of vertices, or
   -1 if a part has other members than before. If `low` is NULL, nothing was counted by key, and the lowest keys of parts
   are not checked. */
#define HIGHEST(keys, left) (left ? keys[left - 1] : INT64_MIN)
#define REFINE(name, integer)                                                                                  \
    int64_t name(const int64_t *low, const int64_t *shift, const int64_t *neg, const int64_t *pos,             \
                 int64_t parts, const int64_t *slot, int64_t open, const uint8_t *small,                       \
                 const uint32_t *carries, const integer *neg_keys, int64_t neg_left, const integer *pos_keys,  \
                 int64_t pos_left, const vertices *hull)                                                       \
    {                                                                                                          \
        edges outer = {hull->edge_x, hull->edge_y, 1, 0, 0, 0, 0};                                             \
        progress done = {1, 0, 0, 1};                                                                          \
        int64_t x = 0, y = 0;                                                                                  \
        hull->x[0] = hull->y[0] = hull->edge_x[0] = hull->edge_y[0] = 0;                                       \
        for (int64_t part = 0; part < parts; part++)                                                           \
            add_to_edges(&outer, x += neg[part], y += pos[part]);                                              \
        begin_edge(&outer, 0);                                                                                 \
        for (int64_t part = 0; part < parts; part++) {                                                         \
            if (shift[part] <= 0) {                                                                            \
                add_part(hull, &done, &outer, low ? low[part] : 0, shift[part], neg[part], pos[part]);         \
                continue;                                                                                      \
            }                                                                                                  \
            int64_t from = slot[--open], left[2] = {neg[part], pos[part]}, at_key[2] = {0, 0};                 \
            if (from != WRITTEN) {                                                                             \
                for (int64_t key = low[part] + ((int64_t)1 << shift[part]) - 1; key >= low[part]; key--) {     \
                    int64_t in_neg = counted(small, carries, 2 * (key + from));                                \
                    int64_t in_pos = counted(small, carries, 2 * (key + from) + 1);                            \
                    if (in_neg || in_pos)                                                                      \
                        add_part(hull, &done, &outer, key, 0, in_neg, in_pos);                                 \
                    left[0] -= in_neg;                                                                         \
                    left[1] -= in_pos;                                                                         \
                }                                                                                              \
            } else {                                                                                           \
                int64_t floor = low ? low[part] : INT64_MIN, key;                                              \
                int64_t next_neg = HIGHEST(neg_keys, neg_left), next_pos = HIGHEST(pos_keys, pos_left);        \
                while (left[0] > 0 || left[1] > 0) {                                                           \
                    key = next_neg > next_pos ? next_neg : next_pos;                                           \
                    if (key < floor || key == INT64_MIN)                                                       \
                        return -1;                                                                             \
                    int is_neg = next_neg == key, is_pos = next_pos == key;                                    \
                    neg_left -= is_neg;                                                                        \
                    pos_left -= is_pos;                                                                        \
                    at_key[0] += is_neg;                                                                       \
                    at_key[1] += is_pos;                                                                       \
                    next_neg = HIGHEST(neg_keys, neg_left);                                                    \
                    next_pos = HIGHEST(pos_keys, pos_left);                                                    \
                    if (next_neg == key || next_pos == key)                                                    \
                        continue;                                                                              \
                    add_part(hull, &done, &outer, key, 0, at_key[0], at_key[1]);                               \
                    left[0] -= at_key[0];                                                                      \
                    left[1] -= at_key[1];                                                                      \
                    at_key[0] = at_key[1] = 0;                                                                 \
                }                                                                                              \
                if (low && (next_neg >= floor || next_pos >= floor))                                           \
                    return -1;                                                                                 \
            }                                                                                                  \
            if (left[0] || left[1])                                                                            \
                return -1;                                                                                     \
        }                                                                                                      \
        return neg_left || pos_left ? -1 : done.size;                                                          \
    }

REFINE(refine_float32, int32_t)
REFINE(refine_float64, int64_t)

/* Copy labels 0 and 1 to bytes. Return 1 if both occur, 0 if only one of them does, and -1 if there are others. */
WIDE int64_t zeros_and_ones(const int64_t *label, int64_t n, uint8_t *positive)
{
    int64_t some = 0, all = -1;
    for (int64_t i = 0; i < n; i++) {
        some |= label[i];
        all &= label[i];
        positive[i] = (uint8_t)label[i];
    }
    return some & ~(int64_t)1 ? -1 : some ^ all;
}

/* Write keys that order scores from the highest down and have the label as their lowest bit. To make room for it,
   `offset` is taken from the size of each score that is not zero. Return it, or -1 if a size is not larger than that.
   `highest` is the largest absolute value. */
#define PACK(name, real, integer, sizes)                                                                       \
    WIDE int64_t name(const real *score, const uint8_t *positive, int64_t n, double highest, integer *keys)    \
    {                                                                                                          \
        const real top = (real)highest;                                                                        \
        integer largest, offset, lost = 0;                                                                     \
        memcpy(&largest, &top, sizeof top);                                                                    \
        offset = largest > sizes / 2 ? largest - sizes / 2 : 0;                                                \
        for (int64_t i = 0; i < n; i++) {                                                                      \
            integer bits, size;                                                                                \
            memcpy(&bits, &score[i], sizeof bits);                                                             \
            size = bits & sizes;                                                                               \
            lost |= (size != 0) & (size <= offset);                                                            \
            size = size ? size - offset : 0;                                                                   \
            keys[i] = (bits < 0 ? size : -size) * 2 + (positive[i] != 0);                                      \
        }                                                                                                      \
        return lost ? -1 : (int64_t)offset;                                                                    \
    }

PACK(pack_float32, float, int32_t, INT32_MAX)
PACK(pack_float64, double, int64_t, INT64_MAX)

/* Sort keys; `other` has room for as many. Three passes order them by the highest bits in which they differ, and an
   insertion orders the few that share these. Return 0 if too many do: then all keys are there, but not in order. */
#define DIGIT(key, i) ((int)(((uint64_t)(key) - (uint64_t)least) >> (low + (i) * bits)) & last)
#define SORT(name, integer)                                                                                    \
    int64_t name(integer *keys, integer *other, int64_t n)                                                     \
    {                                                                                                          \
        uint32_t place[3][2048] = {{0}}, before = 0, here;                                                     \
        integer least = keys[0], most = keys[0], *from = keys, *to = other;                                    \
        int low = 0, bits = n >> 20 ? 11 : 10, last = (1 << bits) - 1;                                         \
        int64_t moves = 4 * n, i, j;                                                                           \
        for (i = 1; i < n; i++)                                                                                \
            least = keys[i] < least ? keys[i] : least, most = keys[i] > most ? keys[i] : most;                 \
        for (; ((uint64_t)most - (uint64_t)least) >> low >> 3 * bits; low++)                                   \
            continue;                                                                                          \
        for (i = 0; i < n; i++)                                                                                \
            for (int pass = 0; pass < 3; pass++)                                                               \
                place[pass][DIGIT(keys[i], pass)]++;                                                           \
        for (int pass = 0; pass < 3; pass++, from = to, to = from == keys ? other : keys, before = 0) {        \
            for (int digit = 0; digit <= last; digit++, before += here) {                                      \
                here = place[pass][digit];                                                                     \
                place[pass][digit] = before;                                                                   \
            }                                                                                                  \
            for (i = 0; i < n; i++)                                                                            \
                to[place[pass][DIGIT(from[i], pass)]++] = from[i];                                             \
        }                                                                                                      \
        for (i = 0; i < n && moves >= 0; i++, moves -= i - j) {                                                \
            const integer key = other[i];                                                                      \
            for (j = i; j && keys[j - 1] > key; j--)                                                           \
                keys[j] = keys[j - 1];                                                                         \
            keys[j] = key;                                                                                     \
        }                                                                                                      \
        memcpy(keys + i, other + i, (size_t)(n - i) * sizeof *keys);                                           \
        return i >= n;                                                                                         \
    }

SORT(sort_float32, int32_t)
SORT(sort_float64, int64_t)

/* Replace sorted keys, which begin at the second place, by the bits of the distinct scores, and count the negatives and
   positives at and above each of them. The first place is for no examples. Return the number of places in use. */
#define UNPACK(name, integer, sizes)                                                                           \
    int64_t name(integer *keys, int64_t n, int64_t offset, int32_t *neg, int32_t *pos)                         \
    {                                                                                                          \
        int64_t size = 1;                                                                                      \
        int32_t found = 0;                                                                                     \
        neg[0] = pos[0] = 0;                                                                                   \
        for (int64_t i = 1; i <= n; i++) {                                                                     \
            integer key = keys[i], half = key >> 1;                                                            \
            found += (int32_t)(key & 1);                                                                       \
            if (i < n && keys[i + 1] >> 1 == half)                                                             \
                continue;                                                                                      \
            integer bits = half ? (half < 0 ? -half : half) + (integer)offset : 0;                             \
            keys[size] = half > 0 ? bits | (-sizes - 1) : bits;                                                \
            neg[size] = (int32_t)i - found;                                                                    \
            pos[size++] = found;                                                                               \
        }                                                                                                      \
        return size;                                                                                           \
    }

UNPACK(unpack_float32, int32_t, INT32_MAX)
UNPACK(unpack_float64, int64_t, INT64_MAX)

/* The number of sorted entries that are at or below a value. Entries and values are assigned to buckets by a
   non-decreasing function, so only entries in the bucket of the value are compared. */
typedef struct {
    double low, scale, buckets;
    const int32_t *below; /* by bucket: the number of entries in lower buckets; the last is the number of all entries */
    const double *entries;
} search;

static inline int64_t at_or_below(double value, const search *in)
{
    double place = (value - in->low) * in->scale;
    place = place < -1 ? -1 : place > in->buckets ? in->buckets : place;
    int64_t bucket = (int64_t)place + 1;
    int64_t first = in->below[bucket], end = in->below[bucket + 1];
    while (first < end) {
        int64_t middle = (first + end) / 2;
        if (in->entries[middle] <= value)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Count, row by row, at which points draws are that last from one point to another. Both follow from the number of entries
   at or below the value of the draw. */
void count_lasting(const double *value, const int64_t *draws, int64_t rows, const search *in,
                   const int32_t *const *ends, int64_t points, int64_t *counts)
{
    for (int64_t i = 0; i < rows; i++, counts += points) {
        for (int64_t j = 0; j < draws[i]; j++) {
            int64_t rank = at_or_below(*value++, in);
            counts[ends[0][rank]]++;
            counts[ends[1][rank]]--;
        }
        for (int64_t point = 1; point < points; point++)
            counts[point] += counts[point - 1];
    }
}

/* Count, for negatives and then for positives, the steps at which each of two classifiers begins to predict examples
   positive, and the step at which the earlier of the two does. Each row has one more entry, which counts the examples
   for which that never happens. If `cells` is not NULL, also count the examples by a second list of points for each
   classifier, in a square table. The lists say by the number of entries at or below a score where the change is. */
void count_changes(const double *a, const double *b, const uint8_t *positive, int64_t n, const search *in_a,
                   const search *in_b, const int32_t *const *changes, int64_t steps, int64_t *table, int64_t points,
                   int64_t *cells)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t rank_a = at_or_below(a[i], in_a), rank_b = at_or_below(b[i], in_b), label = positive[i] != 0;
        int64_t at_a = changes[0][rank_a], at_b = changes[1][rank_b];
        int64_t *row = table + label * 3 * (steps + 1);
        row[at_a]++;
        row[steps + 1 + at_b]++;
        row[2 * (steps + 1) + (at_a < at_b ? at_a : at_b)]++;
        if (cells)
            cells[(label * (points + 1) + changes[2][rank_a]) * (points + 1) + changes[3][rank_b]]++;
    }
}

/* Write how many atoms of a second variable, from 0 to `most`, are reached at a place for each atom of a first variable
   and, if `values` is not NULL, the distribution function of the second variable there, which has one row per point. */
WIDE void reach(const double *room, const double *place, int64_t points, int64_t atoms, int64_t most, int64_t *reached,
                const int64_t *row, const double *total, double *values)
{
    for (int64_t i = 0; i < points; i++) {
        const double shift = place[i], last = (double)most;
        const double *own = total + row[i] * (most + 1);
        for (int64_t j = i * atoms; j < (i + 1) * atoms; j++) {
            const double count = room[j] + shift;
            reached[j] = (int32_t)(count < 0 ? 0 : count > last ? last : count);
        }
        for (int64_t j = i * atoms; values && j < (i + 1) * atoms; j++)
            values[j] = own[reached[j]];
    }
}

/* Choose, at each of some weights, the entry with the least weight * falling + (1 - weight) * rising, and write by how
   much less that is than with the known values of the entry. An entry that costs more at a weight than a later one does
   so at all larger weights too, so the middle weight leaves fewer entries for each half of the others. Entries that cost
   almost the same there are kept, so that rounding changes nothing. */
#define ALMOST 1e-12
typedef struct {
    const double *falling, *rising, *known_falling, *known_rising, *weight;
    double *cost, *less;
    int64_t rows;
} chances;

static void choose_between(const chances *in, int64_t from, int64_t to, int64_t low, int64_t high)
{
    while (from < to) {
        int64_t middle = low == high ? from : from + (to - from) / 2, best = low, first = low, last = high;
        const double own = in->weight[middle], other = 1 - own;
        double *cost = in->cost;
        for (int64_t j = low; j <= high; j++)
            cost[j] = own * in->falling[j] + other * in->rising[j];
        for (int64_t j = low + 1; j <= high; j++)
            best = cost[j] < cost[best] ? j : best;
        in->less[middle * in->rows] = own * in->known_falling[best] + other * in->known_rising[best] - cost[best];
        while (cost[first] > cost[best] + ALMOST)
            first++;
        while (cost[last] > cost[best] + ALMOST)
            last--;
        choose_between(in, from, middle, low, last);
        from = middle + 1;
        low = first;
    }
}

/* Do so for each row of two tables, at increasing weights; the first of equal entries counts. Entries are in [0, 1]. */
void least_sums(const double *falling, const double *rising, const double *known_falling, const double *known_rising,
                int64_t rows, int64_t size, const double *weight, int64_t weights, double *cost, double *less)
{
    for (int64_t i = 0; i < rows; i++) {
        chances in = {falling + i * size, rising + i * size, known_falling, known_rising, weight, cost, less + i, rows};
        choose_between(&in, 0, weights, 0, size - 1);
    }
}

/* Write the indices of the vertices of the upper hull of points with non-decreasing x, and return the number of vertices.
   Points on an edge, and points equal to the previous point, are not vertices. Products are exact. */
int64_t upper_hull(const int64_t *x, const int64_t *y, int64_t n, int64_t *vertex)
{
    int64_t size = 0;
    for (int64_t i = 0; i < n; i++) {
        if (size && x[vertex[size - 1]] == x[i] && y[vertex[size - 1]] == y[i])
            continue;
        for (; size > 1; size--) {
            int64_t a = vertex[size - 2], b = vertex[size - 1];
            if ((__int128)(y[b] - y[a]) * (x[i] - x[a]) > (__int128)(x[b] - x[a]) * (y[i] - y[a]))
                break;
        }
        vertex[size++] = i;
    }
    return size;
}

/* Mark the blocks between neighbouring points whose upper-left corner lies strictly above the hull. */
void blocks_above(const int64_t *x, const int64_t *y, const int64_t *vertex, int64_t vertices, uint8_t *above)
{
    for (int64_t edge = 0; edge + 1 < vertices; edge++) {
        int64_t start = vertex[edge], end = vertex[edge + 1];
        __int128 dx = x[end] - x[start], dy = y[end] - y[start];
        for (int64_t i = start; i < end; i++)
            above[i] = (y[i + 1] - y[start]) * dx > (x[i] - x[start]) * dy;
    }
}

/* Count the cases of one class outside each fold, and at and above each point. `reached` has how many cases are at or
   above each point, and `fold` the folds of the cases from the highest score down. There are at most 255 folds. */
void outside_folds(const int32_t *reached, const uint8_t *fold, int64_t points, int64_t folds, int32_t *outside)
{
    int32_t inside[256] = {0}, rank = 0;
    for (int64_t point = 0; point < points; point++) {
        for (; rank < reached[point]; rank++)
            inside[fold[rank]]++;
        for (int64_t k = 0; k < folds; k++)
            outside[k * points + point] = rank - inside[k];
    }
}
