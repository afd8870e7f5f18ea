//! Folds that lack a class are joined with their neighbours, so that every class has a say wherever it can be asked.

/// Groups of folds (ascending) such that every group has rows of every class, as far as that can be: a fold that lacks a
/// class is joined with the next one, the last with the first. What is wanted of a class that two folds have or more is
/// that all groups have it; two always do, so that no training without a group lacks a class that it could have.
pub(crate) fn complete(counts: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let classes = counts.first().map_or(0, Vec::len);
    let mut groups: Vec<Vec<usize>> = (0..counts.len()).map(|fold| vec![fold]).collect();
    let has = |group: &[usize], class: usize| group.iter().any(|&fold| counts[fold][class] > 0);
    let holders = |groups: &[Vec<usize>], class: usize| {
        let own = groups.iter().filter(|group| has(group, class));
        own.count()
    };
    let wanted: Vec<usize> = (0..classes)
        .filter(|&class| holders(&groups, class) > 1)
        .collect();
    let lacks = |group: &[usize]| wanted.iter().any(|&class| !has(group, class));
    while let Some(joined) = joined(&groups, &lacks, &|groups| {
        wanted.iter().all(|&class| holders(groups, class) > 1)
    }) {
        groups = joined;
    }
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups.sort_unstable();
    groups
}

/// One fold less: the first group that lacks a class with the next that it may be joined with. None if there is none.
fn joined(
    groups: &[Vec<usize>],
    lacks: &dyn Fn(&[usize]) -> bool,
    may_be: &dyn Fn(&[Vec<usize>]) -> bool,
) -> Option<Vec<Vec<usize>>> {
    let number = groups.len();
    let lacking = (0..number).filter(|&group| lacks(&groups[group]));
    let mut pairs =
        lacking.flat_map(|group| (1..number).map(move |step| (group, (group + step) % number)));
    pairs.find_map(|(group, other)| {
        let (first, second) = (group.min(other), group.max(other));
        let mut less = groups.to_vec();
        let more = less.remove(second);
        less[first].extend(more);
        may_be(&less).then_some(less)
    })
}

#[cfg(test)]
mod tests {
    use super::complete;
    use proptest::prelude::*;

    fn has(group: &[usize], counts: &[Vec<usize>], class: usize) -> bool {
        group.iter().any(|&fold| counts[fold][class] > 0)
    }

    #[test]
    fn whole_folds_stay_as_they_are() {
        let counts = vec![vec![3, 1]; 4];
        assert_eq!(complete(&counts), [[0], [1], [2], [3]]);
        assert!(complete(&[]).is_empty());
    }

    #[test]
    fn a_rare_class_leaves_as_many_folds_as_have_it() {
        let rare = |folds: &[usize]| -> Vec<Vec<usize>> {
            (0..10)
                .map(|fold| vec![5, usize::from(folds.contains(&fold))])
                .collect()
        };
        let of_three = complete(&rare(&[0, 4, 7]));
        assert_eq!(of_three, [vec![0, 8, 9], vec![1, 2, 3, 4], vec![5, 6, 7]]);
        assert_eq!(complete(&rare(&[2, 3])).len(), 2);
        // A class that is in one fold is nobody's but its own.
        assert_eq!(complete(&rare(&[6])).len(), 10);
    }

    #[test]
    fn classes_that_no_two_runs_of_folds_could_share_are_shared() {
        let counts: Vec<Vec<usize>> = (0..10)
            .map(|fold| vec![4, usize::from(fold < 2), usize::from(fold > 7)])
            .collect();
        let groups = complete(&counts);
        assert_eq!(groups.len(), 2);
        assert!(
            groups
                .iter()
                .all(|group| (0..3).all(|class| has(group, &counts, class)))
        );
    }

    proptest! {
        /// Every fold is in one group; a class that two folds have stays in two; and where one class alone is rare,
        /// none of its folds is wasted.
        #[test]
        fn groups_are_folds_that_have_all_they_can(
            counts in (2_usize..12, 1_usize..5).prop_flat_map(|(folds, classes)| {
                let few = prop_oneof![Just(0_usize), Just(0_usize), 0_usize..4];
                prop::collection::vec(prop::collection::vec(few, classes), folds)
            }),
        ) {
            let groups = complete(&counts);
            let mut all: Vec<usize> = groups.concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..counts.len()).collect::<Vec<_>>());
            prop_assert!(groups.iter().all(|group| group.is_sorted()) && groups.is_sorted());
            let classes = counts[0].len();
            let rare: Vec<(usize, usize)> = (0..classes)
                .map(|class| (class, counts.iter().filter(|own| own[class] > 0).count()))
                .filter(|&(_, folds)| folds > 1 && folds < counts.len())
                .collect();
            for &(class, _) in &rare {
                let holders = groups.iter().filter(|group| has(group, &counts, class)).count();
                prop_assert!(holders > 1);
            }
            match rare[..] {
                [] => prop_assert_eq!(groups.len(), counts.len()),
                [(_, folds)] => prop_assert_eq!(groups.len(), folds),
                _ => {
                    // Two groups may be all there can be; otherwise none lacks what it could have.
                    let lacking = groups
                        .iter()
                        .filter(|group| rare.iter().any(|&(class, _)| !has(group, &counts, class)));
                    let lacking = lacking.count();
                    prop_assert!(lacking == 0 || !may_be_joined(&groups, &counts, &rare));
                }
            }
        }
    }

    /// Whether any two groups, one of which lacks a class, leave every class in two groups when they are joined.
    fn may_be_joined(
        groups: &[Vec<usize>],
        counts: &[Vec<usize>],
        rare: &[(usize, usize)],
    ) -> bool {
        let pairs = (0..groups.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        let lacks = |group: &Vec<usize>| rare.iter().any(|&(class, _)| !has(group, counts, class));
        pairs
            .filter(|&(a, b)| lacks(&groups[a]) || lacks(&groups[b]))
            .any(|(a, b)| {
                rare.iter().all(|&(class, _)| {
                    let own = |group: usize| usize::from(has(&groups[group], counts, class));
                    let all: usize = (0..groups.len()).map(own).sum();
                    all - own(a) - own(b) + own(a).max(own(b)) > 1
                })
            })
    }
}
