/* Loops over very many scores and counts, compiled where a C compiler is there when the package is installed.

   compiled.py calls them, and NumPy does the same where they are missing, with the same results bit for bit. Arguments
   are checked there. Nothing here knows of Python, so threads that run these loops do not wait for each other. */

#include <stdint.h>

#define CELLS_BELOW_ZERO 2048

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address, 1)
#else
#define PREFETCH(address) ((void)0)
#endif

/* To be raised with every change of a signature, here and in compiled.py: a library of another version is not used. */
int64_t version(void)
{
    return 1;
}

typedef struct {
    int64_t low_bits;      /* of a key, below its cell */
    const int64_t *shifts; /* by cell: log2 of the keys in a bin */
    const int64_t *base;   /* by cell: what makes a shifted key the number of a bin */
} layout;

/* The key of a score orders like it: its bits, and of negative floats minus the bits of their size. */
#define KEY(bits, sizes) ((bits) < 0 ? -(int64_t)((bits) & (sizes)) : (int64_t)(bits))

static inline int64_t bin_of(int64_t key, const layout *bins)
{
    int64_t cell = (key >> bins->low_bits) + CELLS_BELOW_ZERO;
    return (int64_t)((uint64_t)(key >> bins->shifts[cell]) + (uint64_t)bins->base[cell]);
}

/* Count scores of negatives and positives in bins: in one byte each, so that more of them stay in the cache. A byte
   that is full goes to `carries`, which counts how often. Places are found some rows ahead, so that the memory of one
   is on its way while others are counted. */
#define AHEAD 16
#define COUNT(name, integer, sizes)                                                                            \
    void name(const integer *bits, const uint8_t *positive, int64_t n, int64_t low_bits, const int64_t *shifts, \
              const int64_t *base, uint8_t *small, uint32_t *carries)                                           \
    {                                                                                                          \
        const layout bins = {low_bits, shifts, base};                                                          \
        int64_t place[AHEAD];                                                                                  \
        for (int64_t i = 0; i < n; i += AHEAD) {                                                               \
            int64_t rows = n - i < AHEAD ? n - i : AHEAD;                                                      \
            for (int64_t j = 0; j < rows; j++) {                                                               \
                place[j] = 2 * bin_of(KEY(bits[i + j], sizes), &bins) + (positive[i + j] != 0);                 \
                PREFETCH(&small[place[j]]);                                                                    \
            }                                                                                                  \
            for (int64_t j = 0; j < rows; j++)                                                                 \
                if (++small[place[j]] == 0)                                                                    \
                    carries[place[j]]++;                                                                       \
        }                                                                                                      \
    }

COUNT(count_float32, int32_t, INT32_MAX)
COUNT(count_float64, int64_t, INT64_MAX)

/* Write where the scores are whose bins are wanted (one bit each), and return how many there are. `place` has room for
   one more than n. */
#define FIND(name, integer, sizes)                                                                             \
    int64_t name(const integer *bits, int64_t n, int64_t low_bits, const int64_t *shifts, const int64_t *base,  \
                 const uint64_t *wanted, int64_t *place)                                                       \
    {                                                                                                          \
        const layout bins = {low_bits, shifts, base};                                                          \
        int64_t found = 0;                                                                                     \
        for (int64_t i = 0; i < n; i++) {                                                                      \
            int64_t bin = bin_of(KEY(bits[i], sizes), &bins);                                                  \
            place[found] = i;                                                                                  \
            found += (wanted[bin >> 6] >> (bin & 63)) & 1;                                                     \
        }                                                                                                      \
        return found;                                                                                          \
    }

FIND(find_float32, int32_t, INT32_MAX)
FIND(find_float64, int64_t, INT64_MAX)

/* Write the numbers of the vertices of the upper hull of points whose x and y do not fall, and return how many there
   are. Points on an edge are none, and neither are points equal to the one before. Products are exact. */
int64_t upper_hull(const int64_t *x, const int64_t *y, int64_t n, int64_t *vertex)
{
    int64_t size = 0;
    for (int64_t i = 0; i < n; i++) {
        if (size && x[vertex[size - 1]] == x[i] && y[vertex[size - 1]] == y[i])
            continue;
        while (size > 1) {
            int64_t a = vertex[size - 2], b = vertex[size - 1];
            if ((__int128)(y[b] - y[a]) * (x[i] - x[a]) > (__int128)(x[b] - x[a]) * (y[i] - y[a]))
                break;
            size--;
        }
        vertex[size++] = i;
    }
    return size;
}

/* Write which blocks between neighbouring points have their upper-left corner strictly above the hull. */
void blocks_above(const int64_t *x, const int64_t *y, const int64_t *vertex, int64_t vertices, uint8_t *above)
{
    for (int64_t edge = 0; edge + 1 < vertices; edge++) {
        int64_t start = vertex[edge], end = vertex[edge + 1];
        __int128 dx = x[end] - x[start], dy = y[end] - y[start];
        for (int64_t i = start; i < end; i++)
            above[i] = (y[i + 1] - y[start]) * dx > (x[i] - x[start]) * dy;
    }
}

/* Write the distinct of two sorted lists of keys, and how often each is in the one and in the other; return how many. */
int64_t merge(const int64_t *neg, int64_t n_neg, const int64_t *pos, int64_t n_pos, int64_t *key, int64_t *in_neg,
              int64_t *in_pos)
{
    int64_t size = 0, i = 0, j = 0;
    while (i < n_neg || j < n_pos) {
        int64_t next = j == n_pos || (i < n_neg && neg[i] <= pos[j]) ? neg[i] : pos[j];
        int64_t first_neg = i, first_pos = j;
        while (i < n_neg && neg[i] == next)
            i++;
        while (j < n_pos && pos[j] == next)
            j++;
        key[size] = next;
        in_neg[size] = i - first_neg;
        in_pos[size] = j - first_pos;
        size++;
    }
    return size;
}
