/* Element-wise steps of a training step, each in one pass over memory. Optional: compiled on first use where the machine has a C
 * compiler (fused_native.py), else torch does the same in several passes (fused_ops.py, which is also the reference in the tests).
 * Arithmetic is float32 whatever the storage is; a result is rounded once, to nearest even. Rows are independent of each other and of
 * the number of threads. */
#include "fused_numbers.h"

#define KERNELS(T)                                                                                                                        \
    /* s = x + a where a is given (s and a may be null); h = s * rstd * (offset + w) */                                                   \
    void norm_forward_##T(const T *x, const T *a, const T *w, T *s, T *h, float *rstd, int64_t n, int64_t d, float eps, float offset,     \
                          int threads) {                                                                                                  \
        _Pragma("omp parallel for num_threads(threads) schedule(static)") for (int64_t i = 0; i < n; i++) {                               \
            const T *xi = x + i * d;                                                                                                      \
            T *hi = h + i * d;                                                                                                            \
            if (a) {                                                                                                                      \
                const T *ai = a + i * d;                                                                                                  \
                T *si = s + i * d;                                                                                                        \
                _Pragma("omp simd")                                                                                                       \
                for (int64_t j = 0; j < d; j++) si[j] = T##_put(T##_get(xi[j]) + T##_get(ai[j]));                                         \
                xi = si;                                                                                                                  \
            }                                                                                                                             \
            float sum = 0;                                                                                                                \
            _Pragma("omp simd reduction(+ : sum)")                                                                                        \
            for (int64_t j = 0; j < d; j++) {                                                                                             \
                float v = T##_get(xi[j]);                                                                                                 \
                sum += v * v;                                                                                                             \
            }                                                                                                                             \
            float r = 1.0f / sqrtf(sum / (float)d + eps);                                                                                 \
            rstd[i] = r;                                                                                                                  \
            _Pragma("omp simd")                                                                                                           \
            for (int64_t j = 0; j < d; j++) hi[j] = T##_put(T##_get(xi[j]) * r * (offset + T##_get(w[j])));                               \
        }                                                                                                                                 \
    }                                                                                                                                     \
    void norm_again_##T(const T *x, const T *w, const float *rstd, T *h, int64_t n, int64_t d, float offset, int threads) {               \
        _Pragma("omp parallel for num_threads(threads) schedule(static)") for (int64_t i = 0; i < n; i++) {                               \
            const T *xi = x + i * d;                                                                                                      \
            T *hi = h + i * d;                                                                                                            \
            float r = rstd[i];                                                                                                            \
            _Pragma("omp simd")                                                                                                           \
            for (int64_t j = 0; j < d; j++) hi[j] = T##_put(T##_get(xi[j]) * r * (offset + T##_get(w[j])));                               \
        }                                                                                                                                 \
    }                                                                                                                                     \
    /* dx = ds + rstd * (w dh - xhat mean(w dh xhat)); ds may be null; dx may be ds */                                                    \
    void norm_backward_##T(const T *dh, const T *x, const T *w, const float *rstd, const T *ds, T *dx, int64_t n, int64_t d,              \
                           float offset, int threads) {                                                                                   \
        _Pragma("omp parallel for num_threads(threads) schedule(static)") for (int64_t i = 0; i < n; i++) {                               \
            const T *xi = x + i * d, *di = dh + i * d;                                                                                    \
            T *oi = dx + i * d;                                                                                                           \
            float r = rstd[i], dot = 0;                                                                                                   \
            _Pragma("omp simd reduction(+ : dot)")                                                                                        \
            for (int64_t j = 0; j < d; j++) dot += T##_get(di[j]) * (offset + T##_get(w[j])) * T##_get(xi[j]);                            \
            float c = dot * r * r / (float)d;                                                                                             \
            if (ds) {                                                                                                                     \
                const T *ri = ds + i * d;                                                                                                 \
                _Pragma("omp simd")                                                                                                       \
                for (int64_t j = 0; j < d; j++)                                                                                           \
                    oi[j] = T##_put(T##_get(ri[j]) + r * (T##_get(di[j]) * (offset + T##_get(w[j])) - T##_get(xi[j]) * c));               \
            } else {                                                                                                                      \
                _Pragma("omp simd")                                                                                                       \
                for (int64_t j = 0; j < d; j++)                                                                                           \
                    oi[j] = T##_put(r * (T##_get(di[j]) * (offset + T##_get(w[j])) - T##_get(xi[j]) * c));                                \
            }                                                                                                                             \
        }                                                                                                                                 \
    }                                                                                                                                     \
    /* m = silu(g) u */                                                                                                                   \
    void swiglu_forward_##T(const T *g, const T *u, T *m, int64_t count, int threads) {                                                   \
        _Pragma("omp parallel for num_threads(threads) schedule(static)") for (int64_t b = 0; b < count; b += 4096) {                     \
            int64_t end = b + 4096 < count ? b + 4096 : count;                                                                            \
            _Pragma("omp simd")                                                                                                           \
            for (int64_t j = b; j < end; j++) {                                                                                           \
                float v = T##_get(g[j]);                                                                                                  \
                m[j] = T##_put(v / (1.0f + fast_exp(-v)) * T##_get(u[j]));                                                                \
            }                                                                                                                             \
        }                                                                                                                                 \
    }                                                                                                                                     \
    /* in place: g <- dg, u <- du, dm <- m */                                                                                             \
    void swiglu_backward_##T(T *g, T *u, T *dm, int64_t count, int threads) {                                                             \
        _Pragma("omp parallel for num_threads(threads) schedule(static)") for (int64_t b = 0; b < count; b += 4096) {                     \
            int64_t end = b + 4096 < count ? b + 4096 : count;                                                                            \
            _Pragma("omp simd")                                                                                                           \
            for (int64_t j = b; j < end; j++) {                                                                                           \
                float v = T##_get(g[j]), w = T##_get(u[j]), d = T##_get(dm[j]);                                                           \
                float sigmoid = 1.0f / (1.0f + fast_exp(-v));                                                                             \
                float silu = v * sigmoid;                                                                                                 \
                g[j] = T##_put(d * w * (sigmoid + silu * (1.0f - sigmoid)));                                                              \
                u[j] = T##_put(d * silu);                                                                                                 \
                dm[j] = T##_put(silu * w);                                                                                                \
            }                                                                                                                             \
        }                                                                                                                                 \
    }                                                                                                                                     \
    /* x: token t, head h, element j at x[t*xt + h*xh + j]; y is (tokens, heads, dim) contiguous; sign -1 turns back */                   \
    void rope_##T(const T *x, const T *cosine, const T *sine, T *y, int64_t tokens, int64_t heads, int64_t dim, int64_t rotary,           \
                  int64_t xt, int64_t xh, float sign, int threads) {                                                                      \
        int64_t half = rotary / 2;                                                                                                        \
        _Pragma("omp parallel for num_threads(threads) schedule(static)") for (int64_t t = 0; t < tokens; t++) {                          \
            const T *ct = cosine + t * rotary, *st = sine + t * rotary;                                                                   \
            for (int64_t h = 0; h < heads; h++) {                                                                                         \
                const T *xi = x + t * xt + h * xh;                                                                                        \
                T *yi = y + (t * heads + h) * dim;                                                                                        \
                _Pragma("omp simd")                                                                                                       \
                for (int64_t j = 0; j < half; j++) {                                                                                      \
                    float p = T##_get(xi[j]), q = T##_get(xi[j + half]), c = T##_get(ct[j]), s = sign * T##_get(st[j]);                   \
                    yi[j] = T##_put(p * c - q * s);                                                                                       \
                    yi[j + half] = T##_put(q * c + p * s);                                                                                \
                }                                                                                                                         \
                _Pragma("omp simd")                                                                                                       \
                for (int64_t j = rotary; j < dim; j++) yi[j] = xi[j];                                                                     \
            }                                                                                                                             \
        }                                                                                                                                 \
    }                                                                                                                                     \
    /* in place: logits <- softmax(logits) - onehot(target); losses[i] = logsumexp - logit of the target */                               \
    void cross_entropy_##T(T *logits, const int64_t *targets, float *losses, int64_t n, int64_t vocab, int gradient, int threads) {       \
        _Pragma("omp parallel for num_threads(threads) schedule(static)") for (int64_t i = 0; i < n; i++) {                               \
            T *row = logits + i * vocab;                                                                                                  \
            float top = -INFINITY, sum = 0, wanted = T##_get(row[targets[i]]);                                                            \
            _Pragma("omp simd reduction(max : top)")                                                                                      \
            for (int64_t j = 0; j < vocab; j++) {                                                                                         \
                float v = T##_get(row[j]);                                                                                                \
                top = v > top ? v : top;                                                                                                  \
            }                                                                                                                             \
            _Pragma("omp simd reduction(+ : sum)")                                                                                        \
            for (int64_t j = 0; j < vocab; j++) sum += fast_exp(T##_get(row[j]) - top);                                                   \
            float norm = top + logf(sum);                                                                                                 \
            losses[i] = norm - wanted;                                                                                                    \
            if (!gradient) continue;                                                                                                      \
            _Pragma("omp simd")                                                                                                           \
            for (int64_t j = 0; j < vocab; j++) row[j] = T##_put(fast_exp(T##_get(row[j]) - norm));                                       \
            row[targets[i]] = T##_put(expm1f(wanted - norm));                                                                             \
        }                                                                                                                                 \
    }

KERNELS(f32)
KERNELS(bf16)
