/* Causal attention of packed documents on a CPU, forward and backward. Optional, as fused_kernels.c is.
 *
 * One task is one head of one document: scores of 32 queries at a time against all keys before them, so softmax needs no second thought
 * (no running maximum, no rescaling). Everything inside a task is float32 in memory of the thread's own; a result is rounded once. What a
 * task computes depends on its document alone: not on neighbours, not on the number of threads.
 *
 * Layouts: an argument x has element (token t, head h, j) at x[t * xt + h * xh + j]; results are (tokens, heads, dim), contiguous. */
#include <omp.h>

#include "fused_numbers.h"

#if defined(__AVX512F__)
#define LANES 16
#define ROWS 8
#else
#define LANES 8
#define ROWS 4
#endif
#define COLUMNS (2 * LANES)
#define QUERIES 32 /* a block; a multiple of ROWS and of COLUMNS */

typedef float vec __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

static inline int64_t padded(int64_t n) { return (n + QUERIES - 1) / QUERIES * QUERIES; }

/* c (ROWS x COLUMNS) = a b, or += with add. a: element (i, k) at a[i * ai + k * ak]; b: row k at b + k * ldb. */
static inline __attribute__((always_inline)) void tile(const float *a, int64_t ai, int64_t ak, const float *b, int64_t ldb, float *c,
                                                       int64_t ldc, int64_t depth, int add) {
    vec sum[ROWS][2];
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; i++) {
        sum[i][0] = add ? *(const vec *)(c + i * ldc) : (vec){0};
        sum[i][1] = add ? *(const vec *)(c + i * ldc + LANES) : (vec){0};
    }
    for (int64_t k = 0; k < depth; k++) {
        vec left = *(const vec *)(b + k * ldb), right = *(const vec *)(b + k * ldb + LANES);
#pragma GCC unroll 8
        for (int i = 0; i < ROWS; i++) {
            float scalar = a[i * ai + k * ak];
            sum[i][0] += scalar * left;
            sum[i][1] += scalar * right;
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; i++) {
        *(vec *)(c + i * ldc) = sum[i][0];
        *(vec *)(c + i * ldc + LANES) = sum[i][1];
    }
}

/* The products of a block, whose queries follow `first` keys: query i sees keys 0 to first + i, and what no query of a tile sees is left out. */

/* scores (QUERIES x keys) = a b^T: a is (QUERIES x dim), b^T lies in panels of COLUMNS keys (see load_panels). */
static void times_panels(const float *a, const float *panels, float *scores, int64_t rows, int64_t first, int64_t dim) {
    for (int64_t j = 0; j < first + QUERIES; j += COLUMNS)
        for (int64_t i = j < first + ROWS ? 0 : (j - first) / ROWS * ROWS; i < QUERIES; i += ROWS)
            tile(a + i * dim, dim, 1, panels + j * dim, COLUMNS, scores + i * rows + j, rows, dim, 0);
}

/* c (QUERIES x dim) = scores b, b (keys x dim). */
static void times(const float *scores, int64_t rows, const float *b, float *c, int64_t first, int64_t dim) {
    for (int64_t j = 0; j < dim; j += COLUMNS)
        for (int64_t i = 0; i < QUERIES; i += ROWS) tile(scores + i * rows, rows, 1, b + j, dim, c + i * dim + j, dim, first + i + ROWS, 0);
}

/* c (keys x dim) += scores^T b, b (QUERIES x dim). */
static void add_transposed(const float *scores, int64_t rows, const float *b, float *c, int64_t first, int64_t dim) {
    for (int64_t j = 0; j < dim; j += COLUMNS)
        for (int64_t i = 0; i < first + QUERIES; i += ROWS) {
            int64_t unseen = i > first ? i - first : 0;
            tile(scores + unseen * rows + i, 1, rows, b + unseen * dim + j, dim, c + i * dim + j, dim, QUERIES - unseen, 1);
        }
}

/* Tokens of one head times scale, as float32 rows (rows x width); what is padding is zero. */
static void load(float *to, const void *from, int narrow, int64_t stride, int64_t tokens, int64_t rows, int64_t dim, int64_t width,
                 float scale) {
    memset(to, 0, sizeof(float) * rows * width);
    for (int64_t t = 0; t < tokens; t++) {
        float *row = to + t * width;
        if (narrow) {
            const bf16 *given = (const bf16 *)from + t * stride;
            _Pragma("omp simd") for (int64_t j = 0; j < dim; j++) row[j] = scale * bf16_get(given[j]);
        } else {
            const f32 *given = (const f32 *)from + t * stride;
            _Pragma("omp simd") for (int64_t j = 0; j < dim; j++) row[j] = scale * given[j];
        }
    }
}

/* The transpose of rows (rows x width), in panels of COLUMNS rows: panel p holds element (j, r) at panels[p * width + j * COLUMNS + r - p]. */
static void load_panels(float *panels, const float *rows_of, int64_t rows, int64_t width) {
    for (int64_t p = 0; p < rows; p += COLUMNS)
        for (int64_t j = 0; j < width; j++)
            for (int64_t r = 0; r < COLUMNS; r++) panels[p * width + j * COLUMNS + r] = rows_of[(p + r) * width + j];
}

static void store(void *to, int narrow, int64_t stride, const float *from, int64_t tokens, int64_t dim, int64_t width, const float *scales,
                  float scale) {
    for (int64_t t = 0; t < tokens; t++) {
        const float *row = from + t * width;
        float factor = scales ? scales[t] : scale;
        if (narrow) {
            bf16 *out = (bf16 *)to + t * stride;
            _Pragma("omp simd") for (int64_t j = 0; j < dim; j++) out[j] = bf16_put(row[j] * factor);
        } else {
            f32 *out = (f32 *)to + t * stride;
            _Pragma("omp simd") for (int64_t j = 0; j < dim; j++) out[j] = row[j] * factor;
        }
    }
}

static inline const void *at(const void *x, int narrow, int64_t element) { return (const char *)x + element * (narrow ? 2 : 4); }

/* Float32 numbers a thread needs, for documents of up to `longest` tokens. */
int64_t attention_scratch(int64_t longest, int64_t dim) {
    int64_t rows = padded(longest), width = padded(dim);
    return 6 * rows * width + 2 * QUERIES * rows + 4 * QUERIES * width + 2 * QUERIES;
}

/* One row of scores in place: exp(s - top) for the first `seen`, zero up to `rows`; gives the sum. */
static float soften(float *row, int64_t seen, int64_t rows, float top) {
    float sum = 0;
    _Pragma("omp simd reduction(+ : sum)") for (int64_t j = 0; j < seen; j++) {
        row[j] = fast_exp(row[j] - top);
        sum += row[j];
    }
    for (int64_t j = seen; j < rows; j++) row[j] = 0;
    return sum;
}

static void head_forward(const void *q, int64_t qt, const void *k, int64_t kt, const void *v, int64_t vt, void *out, int64_t ot, float *norms,
                         int64_t tokens, int64_t dim, float scale, int narrow, float *scratch) {
    int64_t rows = padded(tokens), width = padded(dim);
    float *keys = scratch, *values = keys + rows * width, *panels = values + rows * width, *scores = panels + rows * width;
    float *queries = scores + QUERIES * rows, *mixed = queries + QUERIES * width, *shares = mixed + QUERIES * width;
    load(keys, k, narrow, kt, tokens, rows, dim, width, 1.0f);
    load_panels(panels, keys, rows, width);
    load(values, v, narrow, vt, tokens, rows, dim, width, 1.0f);
    for (int64_t first = 0; first < tokens; first += QUERIES) {
        int64_t count = first + QUERIES < tokens ? QUERIES : tokens - first, before = first + QUERIES;
        load(queries, at(q, narrow, first * qt), narrow, qt, count, QUERIES, dim, width, scale);
        times_panels(queries, panels, scores, rows, first, width);
        for (int64_t i = 0; i < QUERIES; i++) {
            float *row = scores + i * rows, top = -INFINITY;
            _Pragma("omp simd reduction(max : top)") for (int64_t j = 0; j <= first + i; j++) top = row[j] > top ? row[j] : top;
            float sum = soften(row, first + i + 1, before, top);
            shares[i] = 1.0f / sum;
            if (i < count) norms[first + i] = top + logf(sum);
        }
        times(scores, rows, values, mixed, first, width);
        store((void *)at(out, narrow, first * ot), narrow, ot, mixed, count, dim, width, shares, 0);
    }
}

/* d_k and d_v are float32 (tokens x dim): those of the heads that share a key are summed afterwards. */
static void head_backward(const void *d_out, int64_t dt, const void *q, int64_t qt, const void *k, int64_t kt, const void *v, int64_t vt,
                          const void *out, int64_t ot, const float *norms, void *d_q, float *d_k, float *d_v, int64_t tokens, int64_t dim,
                          float scale, int narrow, float *scratch) {
    int64_t rows = padded(tokens), width = padded(dim);
    float *keys = scratch, *values = keys + rows * width, *key_panels = values + rows * width, *value_panels = key_panels + rows * width;
    float *key_sums = value_panels + rows * width, *value_sums = key_sums + rows * width, *scores = value_sums + rows * width;
    float *d_scores = scores + QUERIES * rows, *queries = d_scores + QUERIES * rows, *d_mixed = queries + QUERIES * width;
    float *mixed = d_mixed + QUERIES * width;
    load(keys, k, narrow, kt, tokens, rows, dim, width, 1.0f);
    load_panels(key_panels, keys, rows, width);
    load(values, v, narrow, vt, tokens, rows, dim, width, 1.0f);
    load_panels(value_panels, values, rows, width);
    memset(key_sums, 0, sizeof(float) * 2 * rows * width);
    for (int64_t first = 0; first < tokens; first += QUERIES) {
        int64_t count = first + QUERIES < tokens ? QUERIES : tokens - first, before = first + QUERIES;
        load(queries, at(q, narrow, first * qt), narrow, qt, count, QUERIES, dim, width, scale);
        load(d_mixed, at(d_out, narrow, first * dt), narrow, dt, count, QUERIES, dim, width, 1.0f);
        load(mixed, at(out, narrow, first * ot), narrow, ot, count, QUERIES, dim, width, 1.0f);
        times_panels(queries, key_panels, scores, rows, first, width);
        times_panels(d_mixed, value_panels, d_scores, rows, first, width);
        for (int64_t i = 0; i < QUERIES; i++) {
            float *row = scores + i * rows, *d_row = d_scores + i * rows, dot = 0;
            int64_t seen = i < count ? first + i + 1 : 0;
            _Pragma("omp simd reduction(+ : dot)") for (int64_t j = 0; j < width; j++) dot += d_mixed[i * width + j] * mixed[i * width + j];
            soften(row, seen, before, seen ? norms[first + i] : 0);
            _Pragma("omp simd") for (int64_t j = 0; j < seen; j++) d_row[j] = row[j] * (d_row[j] - dot);
            for (int64_t j = seen; j < before; j++) d_row[j] = 0;
        }
        add_transposed(scores, rows, d_mixed, value_sums, first, width);
        add_transposed(d_scores, rows, queries, key_sums, first, width);
        times(d_scores, rows, keys, mixed, first, width);
        store((void *)at(d_q, narrow, first * ot), narrow, ot, mixed, count, dim, width, 0, scale);
    }
    store(d_k, 0, dim, key_sums, tokens, dim, width, 0, 1.0f);
    store(d_v, 0, dim, value_sums, tokens, dim, width, 0, 1.0f);
}

static void forward(const void *q, const void *k, const void *v, void *out, float *norms, const int64_t *ends, float *scratch,
                    int64_t documents, int64_t longest, int64_t heads, int64_t shared, int64_t dim, const int64_t *strides, float scale,
                    int narrow, int threads) {
    int64_t total = ends[documents], size = attention_scratch(longest, dim);
    _Pragma("omp parallel for num_threads(threads) schedule(dynamic)") for (int64_t task = 0; task < documents * heads; task++) {
        int64_t h = task % heads, g = h / (heads / shared), start = ends[task / heads], tokens = ends[task / heads + 1] - start;
        head_forward(at(q, narrow, start * strides[0] + h * strides[1]), strides[0], at(k, narrow, start * strides[2] + g * strides[3]),
                     strides[2], at(v, narrow, start * strides[4] + g * strides[5]), strides[4],
                     (void *)at(out, narrow, (start * heads + h) * dim), heads * dim, norms + h * total + start, tokens, dim, scale, narrow,
                     scratch + omp_get_thread_num() * size);
    }
}

static void backward(const void *d_out, const void *q, const void *k, const void *v, const void *out, const float *norms, void *d_q, void *d_k,
                     void *d_v, float *sums, const int64_t *ends, float *scratch, int64_t documents, int64_t longest, int64_t heads,
                     int64_t shared, int64_t dim, const int64_t *strides, float scale, int narrow, int threads) {
    int64_t total = ends[documents], size = attention_scratch(longest, dim), group = heads / shared;
    float *key_sums = sums, *value_sums = sums + heads * total * dim; /* (heads, tokens, dim) each */
    _Pragma("omp parallel for num_threads(threads) schedule(dynamic)") for (int64_t task = 0; task < documents * heads; task++) {
        int64_t h = task % heads, g = h / group, start = ends[task / heads], tokens = ends[task / heads + 1] - start;
        int64_t place = (start * heads + h) * dim;
        head_backward(at(d_out, narrow, place), heads * dim, at(q, narrow, start * strides[0] + h * strides[1]), strides[0],
                      at(k, narrow, start * strides[2] + g * strides[3]), strides[2], at(v, narrow, start * strides[4] + g * strides[5]),
                      strides[4], at(out, narrow, place), heads * dim, norms + h * total + start, (void *)at(d_q, narrow, place),
                      key_sums + (h * total + start) * dim, value_sums + (h * total + start) * dim, tokens, dim, scale, narrow,
                      scratch + omp_get_thread_num() * size);
    }
    _Pragma("omp parallel for num_threads(threads) schedule(static)") for (int64_t t = 0; t < total; t++)
        for (int64_t g = 0; g < shared; g++)
            for (int which = 0; which < 2; which++) {
                float *first = (which ? value_sums : key_sums) + (g * group * total + t) * dim;
                for (int64_t h = 1; h < group; h++) {
                    const float *other = first + h * total * dim;
                    _Pragma("omp simd") for (int64_t j = 0; j < dim; j++) first[j] += other[j];
                }
                store((void *)at(which ? d_v : d_k, narrow, (t * shared + g) * dim), narrow, dim, first, 1, dim, dim, 0, 1.0f);
            }
}

#define ATTENTION(T, NARROW)                                                                                                              \
    void attention_forward_##T(const T *q, const T *k, const T *v, T *out, float *norms, const int64_t *ends, float *scratch,             \
                               int64_t documents, int64_t longest, int64_t heads, int64_t shared, int64_t dim, const int64_t *strides,    \
                               float scale, int threads) {                                                                                \
        forward(q, k, v, out, norms, ends, scratch, documents, longest, heads, shared, dim, strides, scale, NARROW, threads);             \
    }                                                                                                                                     \
    void attention_backward_##T(const T *d_out, const T *q, const T *k, const T *v, const T *out, const float *norms, T *d_q, T *d_k,     \
                                T *d_v, float *sums, const int64_t *ends, float *scratch, int64_t documents, int64_t longest,             \
                                int64_t heads, int64_t shared, int64_t dim, const int64_t *strides, float scale, int threads) {           \
        backward(d_out, q, k, v, out, norms, d_q, d_k, d_v, sums, ends, scratch, documents, longest, heads, shared, dim, strides, scale,  \
                 NARROW, threads);                                                                                                        \
    }

ATTENTION(f32, 0)
ATTENTION(bf16, 1)
