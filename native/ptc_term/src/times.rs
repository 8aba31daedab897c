//! Statistics of many times: their extremes, their quantiles, and how many are over a limit.

/// Buckets for each power of two; a quantile is at most 12.5 % too high.
const BUCKETS_PER_DOUBLING: u64 = 8;
const BUCKETS: usize = 64 * BUCKETS_PER_DOUBLING as usize;

/// The times of calls, in nanoseconds.
#[derive(Debug, Clone)]
pub struct Times {
    /// The number of calls.
    pub calls: u64,
    /// The shortest time; `u64::MAX` without a call.
    pub min: u64,
    /// The longest time.
    pub max: u64,
    /// All times together.
    pub total: u64,
    /// Calls over the limit that were not disturbed.
    pub over: u64,
    /// All calls over the limit.
    pub over_at_all: u64,
    /// The longest call that was not disturbed.
    pub max_alone: u64,
    buckets: Box<[u32; BUCKETS]>,
}

impl Default for Times {
    fn default() -> Self {
        Times {
            calls: 0,
            min: u64::MAX,
            max: 0,
            total: 0,
            over: 0,
            over_at_all: 0,
            max_alone: 0,
            buckets: Box::new([0; BUCKETS]),
        }
    }
}

impl Times {
    /// Adds the time of a call. `alone`: it was not disturbed.
    pub fn add(&mut self, time: u64, limit: u64, alone: bool) {
        self.calls += 1;
        self.min = self.min.min(time);
        self.max = self.max.max(time);
        self.total = self.total.saturating_add(time);
        self.over_at_all += u64::from(time > limit);
        if alone {
            self.over += u64::from(time > limit);
            self.max_alone = self.max_alone.max(time);
        }
        let bucket = &mut self.buckets[bucket_of(time)];
        *bucket = bucket.saturating_add(1);
    }

    /// Returns an upper bound of the time that `share` per cent of the calls took.
    pub fn quantile(&self, share: u64) -> u64 {
        let wanted = (self.calls * share).div_ceil(100);
        let mut seen = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= wanted {
                return end_of(bucket).min(self.max);
            }
        }
        self.max
    }
}

fn bucket_of(time: u64) -> usize {
    let time = time.max(BUCKETS_PER_DOUBLING);
    let doublings = u64::from(time.ilog2());
    let part = (time >> (doublings - 3)) - BUCKETS_PER_DOUBLING;
    (doublings * BUCKETS_PER_DOUBLING + part) as usize
}

fn end_of(bucket: usize) -> u64 {
    let (doublings, part) = (bucket as u64 / 8, bucket as u64 % 8);
    (part + 1 + BUCKETS_PER_DOUBLING).saturating_mul(1 << doublings.saturating_sub(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_is_below_the_end_of_its_bucket_and_not_far() {
        let powers = (0..64).map(|power| 1u64 << power);
        for time in powers.flat_map(|power| [power - 1, power, power + 1, power + power / 3]) {
            let end = end_of(bucket_of(time));
            assert!(end >= time, "{time}: {end}");
            assert!(time < 8 || end - time <= time / 8 + 1, "{time}: {end}");
        }
        assert_eq!(end_of(bucket_of(u64::MAX)), u64::MAX);
    }

    #[test]
    fn quantiles_and_calls_over_the_limit() {
        let mut times = Times::default();
        for time in 1..=1_000 {
            times.add(time * 1_000, 900_000, time % 2 == 0);
        }
        assert_eq!(
            (times.calls, times.min, times.max),
            (1_000, 1_000, 1_000_000)
        );
        assert_eq!((times.over, times.over_at_all), (50, 100));
        assert_eq!((times.total, times.max_alone), (500_500_000, 1_000_000));
        assert!((500_000..=562_500).contains(&times.quantile(50)));
        assert!((990_000..=1_000_000).contains(&times.quantile(99)));
        assert_eq!(Times::default().quantile(50), 0);
    }
}
