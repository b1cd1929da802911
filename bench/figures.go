package main

import (
	"cmp"
	"slices"
	"time"
)

// percentile is the nearest-rank percentile of sorted values.
func percentile[T any](sorted []T, p int) T {
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}

// median is the middle value, of an even number the lower one.
func median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return percentile(sorted, 50)
}

// medians is the sample of the medians of each figure.
func medians(s []sample) sample {
	return sample{
		Rate:  medianOf(s, func(s sample) float64 { return s.Rate }),
		P50:   medianOf(s, func(s sample) time.Duration { return s.P50 }),
		P99:   medianOf(s, func(s sample) time.Duration { return s.P99 }),
		First: medianOf(s, func(s sample) time.Duration { return s.First }),
		F99:   medianOf(s, func(s sample) time.Duration { return s.F99 }),
		CPU:   medianOf(s, func(s sample) time.Duration { return s.CPU }),
	}
}

func medianOf[S any, T cmp.Ordered](all []S, of func(S) T) T {
	values := make([]T, len(all))
	for i, s := range all {
		values[i] = of(s)
	}
	return median(values)
}
