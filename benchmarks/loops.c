/* The loops of loop_programs/ in C: the same order of operations, doubles and 64-bit ints.
 *
 * `restrict` is said where the Python program makes the array itself, so that nothing can overlap it.
 * `%` and `/` round as Python's where an operand can be negative (floor_mod).
 */
#include <math.h>
#include <stdint.h>

typedef int64_t i64;

static inline i64 floor_mod(i64 a, i64 b) {
    i64 r = a % b;
    return r != 0 && (r ^ b) < 0 ? r + b : r;
}

/* dense */

void matmul(const double *a, const double *b, double *restrict c, i64 n, i64 m, i64 p) {
    for (i64 i = 0; i < n; i++)
        for (i64 j = 0; j < p; j++) {
            double s = 0.0;
            for (i64 k = 0; k < m; k++) s += a[i * m + k] * b[k * p + j];
            c[i * p + j] = s;
        }
}

void jacobi_1d(double *u, double *v, i64 n, i64 steps) {
    for (i64 t = 0; t < steps; t++) {
        for (i64 i = 1; i < n - 1; i++) v[i] = 0.33333 * (u[i - 1] + u[i] + u[i + 1]);
        double *w = u;
        u = v;
        v = w;
    }
}

void jacobi_2d(double *u, double *v, i64 n, i64 m, i64 steps) {
    for (i64 t = 0; t < steps; t++) {
        for (i64 i = 1; i < n - 1; i++)
            for (i64 j = 1; j < m - 1; j++)
                v[i * m + j] = 0.2 * (u[i * m + j] + u[i * m + j - 1] + u[i * m + j + 1] + u[(i + 1) * m + j] +
                                      u[(i - 1) * m + j]);
        double *w = u;
        u = v;
        v = w;
    }
}

void seidel(double *u, i64 n, i64 m, i64 steps) {
    for (i64 t = 0; t < steps; t++)
        for (i64 i = 1; i < n - 1; i++)
            for (i64 j = 1; j < m - 1; j++)
                u[i * m + j] = 0.2 * (u[i * m + j] + u[i * m + j - 1] + u[i * m + j + 1] + u[(i + 1) * m + j] +
                                      u[(i - 1) * m + j]);
}

void lu(double *a, i64 n) {
    for (i64 k = 0; k < n; k++)
        for (i64 i = k + 1; i < n; i++) {
            a[i * n + k] /= a[k * n + k];
            for (i64 j = k + 1; j < n; j++) a[i * n + j] -= a[i * n + k] * a[k * n + j];
        }
}

void cholesky(double *a, i64 n) {
    for (i64 i = 0; i < n; i++) {
        for (i64 j = 0; j < i; j++) {
            double s = a[i * n + j];
            for (i64 k = 0; k < j; k++) s -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = s / a[j * n + j];
        }
        double s = a[i * n + i];
        for (i64 k = 0; k < i; k++) s -= a[i * n + k] * a[i * n + k];
        a[i * n + i] = sqrt(s);
    }
}

void floyd_warshall(double *d, i64 n) {
    for (i64 k = 0; k < n; k++)
        for (i64 i = 0; i < n; i++)
            for (i64 j = 0; j < n; j++) {
                double through = d[i * n + k] + d[k * n + j];
                if (through < d[i * n + j]) d[i * n + j] = through;
            }
}

void conv2d(const double *a, const double *kernel, double *restrict out, i64 n, i64 m, i64 p, i64 q) {
    for (i64 i = 0; i < n - p + 1; i++)
        for (i64 j = 0; j < m - q + 1; j++) {
            double s = 0.0;
            for (i64 x = 0; x < p; x++)
                for (i64 y = 0; y < q; y++) s += a[(i + x) * m + j + y] * kernel[x * q + y];
            out[i * (m - q + 1) + j] = s;
        }
}

void prefix_sum(const double *a, double *restrict out, i64 n) {
    double s = 0.0;
    for (i64 i = 0; i < n; i++) {
        s += a[i];
        out[i] = s;
    }
}

void horner(const double *coefficients, const double *xs, double *restrict out, i64 degree, i64 n) {
    for (i64 i = 0; i < n; i++) {
        double r = 0.0;
        for (i64 k = 0; k < degree; k++) r = r * xs[i] + coefficients[k];
        out[i] = r;
    }
}

void n_body(double *position, double *velocity, const double *mass, i64 n, i64 steps, double dt) {
    for (i64 t = 0; t < steps; t++) {
        for (i64 i = 0; i < n; i++)
            for (i64 j = i + 1; j < n; j++) {
                double dx = position[3 * i] - position[3 * j];
                double dy = position[3 * i + 1] - position[3 * j + 1];
                double dz = position[3 * i + 2] - position[3 * j + 2];
                double square = dx * dx + dy * dy + dz * dz;
                double factor = dt / (square * sqrt(square));
                velocity[3 * i] -= dx * mass[j] * factor;
                velocity[3 * i + 1] -= dy * mass[j] * factor;
                velocity[3 * i + 2] -= dz * mass[j] * factor;
                velocity[3 * j] += dx * mass[i] * factor;
                velocity[3 * j + 1] += dy * mass[i] * factor;
                velocity[3 * j + 2] += dz * mass[i] * factor;
            }
        for (i64 i = 0; i < n; i++)
            for (i64 k = 0; k < 3; k++) position[3 * i + k] += dt * velocity[3 * i + k];
    }
}

/* irregular */

void sparse_matvec(const i64 *starts, const i64 *columns, const double *values, const double *x, double *restrict y,
                   i64 n) {
    for (i64 i = 0; i < n; i++) {
        double s = 0.0;
        for (i64 k = starts[i]; k < starts[i + 1]; k++) s += values[k] * x[columns[k]];
        y[i] = s;
    }
}

void histogram(const double *xs, i64 *restrict counts, i64 n, i64 bins) {
    for (i64 i = 0; i < n; i++) counts[(i64)(xs[i] * (double)bins)] += 1;
}

void binary_search(const double *a, const double *keys, i64 *restrict found, i64 n, i64 m) {
    for (i64 q = 0; q < m; q++) {
        double key = keys[q];
        i64 low = 0, high = n;
        while (low < high) {
            i64 middle = (low + high) / 2;
            if (a[middle] < key)
                low = middle + 1;
            else
                high = middle;
        }
        found[q] = low;
    }
}

void quicksort(double *a, i64 n) {
    i64 stack[128];
    stack[0] = 0;
    stack[1] = n - 1;
    i64 top = 2;
    while (top > 0) {
        top -= 2;
        i64 low = stack[top], high = stack[top + 1];
        while (low < high) {
            double pivot = a[(low + high) / 2];
            i64 i = low, j = high;
            while (i <= j) {
                while (a[i] < pivot) i++;
                while (a[j] > pivot) j--;
                if (i <= j) {
                    double t = a[i];
                    a[i] = a[j];
                    a[j] = t;
                    i++;
                    j--;
                }
            }
            if (j - low < high - i) {
                stack[top] = i;
                stack[top + 1] = high;
                high = j;
            } else {
                stack[top] = low;
                stack[top + 1] = j;
                low = i;
            }
            top += 2;
        }
    }
}

void quicksort_recursive(double *a, i64 low, i64 high) {
    i64 i = low, j = high;
    double pivot = a[(low + high) / 2];
    while (i <= j) {
        while (a[i] < pivot) i++;
        while (a[j] > pivot) j--;
        if (i <= j) {
            double t = a[i];
            a[i] = a[j];
            a[j] = t;
            i++;
            j--;
        }
    }
    if (low < j) quicksort_recursive(a, low, j);
    if (i < high) quicksort_recursive(a, i, high);
}

i64 sieve(uint8_t *is_prime, i64 n) {
    i64 count = 0;
    for (i64 i = 2; i < n + 1; i++)
        if (is_prime[i]) {
            count++;
            for (i64 j = i * i; j < n + 1; j += i) is_prime[j] = 0;
        }
    return count;
}

i64 edit_distance(const uint8_t *a, const uint8_t *b, i64 *restrict d, i64 n, i64 m) {
    i64 w = m + 1;
    for (i64 i = 0; i < n + 1; i++) d[i * w] = i;
    for (i64 j = 0; j < m + 1; j++) d[j] = j;
    for (i64 i = 1; i < n + 1; i++)
        for (i64 j = 1; j < m + 1; j++) {
            i64 cost = a[i - 1] == b[j - 1] ? 0 : 1;
            i64 least = d[(i - 1) * w + j] + 1;
            if (d[i * w + j - 1] + 1 < least) least = d[i * w + j - 1] + 1;
            if (d[(i - 1) * w + j - 1] + cost < least) least = d[(i - 1) * w + j - 1] + cost;
            d[i * w + j] = least;
        }
    return d[n * w + m];
}

void knapsack(const i64 *weights, const i64 *values, i64 *restrict best, i64 n, i64 capacity) {
    for (i64 i = 0; i < n; i++) {
        i64 weight = weights[i], value = values[i];
        for (i64 c = capacity; c > weight - 1; c--) {
            i64 candidate = best[c - weight] + value;
            if (candidate > best[c]) best[c] = candidate;
        }
    }
}

void game_of_life(i64 *grid, i64 *other, i64 n, i64 m, i64 steps) {
    for (i64 t = 0; t < steps; t++) {
        for (i64 i = 0; i < n; i++)
            for (i64 j = 0; j < m; j++) {
                i64 alive = 0;
                for (i64 di = -1; di < 2; di++)
                    for (i64 dj = -1; dj < 2; dj++)
                        if (di != 0 || dj != 0) alive += grid[floor_mod(i + di, n) * m + floor_mod(j + dj, m)];
                if (alive == 3 || (alive == 2 && grid[i * m + j] == 1))
                    other[i * m + j] = 1;
                else
                    other[i * m + j] = 0;
            }
        i64 *w = grid;
        grid = other;
        other = w;
    }
}

i64 n_queens(i64 full, i64 columns, i64 left, i64 right) {
    if (columns == full) return 1;
    i64 count = 0;
    i64 free = full & ~(columns | left | right);
    while (free != 0) {
        i64 bit = free & -free;
        free ^= bit;
        count += n_queens(full, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return count;
}

i64 collatz(i64 n) {
    i64 longest = 0, best = 0;
    for (i64 start = 1; start < n; start++) {
        i64 x = start, steps = 0;
        while (x != 1) {
            if (x % 2 == 0)
                x = x / 2;
            else
                x = 3 * x + 1;
            steps++;
        }
        if (steps > longest) {
            longest = steps;
            best = start;
        }
    }
    return best;
}

double lcg_pi(i64 n) {
    i64 state = 12345, inside = 0;
    for (i64 i = 0; i < n; i++) {
        state = (1103515245 * state + 12345) % 2147483648;
        double x = (double)state / 2147483648.0;
        state = (1103515245 * state + 12345) % 2147483648;
        double y = (double)state / 2147483648.0;
        if (x * x + y * y <= 1.0) inside++;
    }
    return 4.0 * (double)inside / (double)n;
}

void mandelbrot(const double *xs, const double *ys, i64 *restrict out, i64 n, i64 m, i64 limit) {
    for (i64 j = 0; j < m; j++)
        for (i64 i = 0; i < n; i++) {
            double a = 0.0, b = 0.0;
            i64 k = 0;
            while (k < limit && a * a + b * b <= 4.0) {
                double next = a * a - b * b + xs[i];
                b = 2.0 * a * b + ys[j];
                a = next;
                k++;
            }
            out[j * n + i] = k;
        }
}

/* calls */

i64 fib(i64 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

i64 ackermann(i64 m, i64 n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

i64 tak(i64 x, i64 y, i64 z) {
    if (y >= x) return z;
    return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y));
}

i64 tree_depth(const i64 *left, const i64 *right, i64 node) {
    if (node < 0) return 0;
    i64 a = tree_depth(left, right, left[node]), b = tree_depth(left, right, right[node]);
    return 1 + (a > b ? a : b);
}
