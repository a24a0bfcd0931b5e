// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"cmp"
	"math"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/workload"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// site is a subset in which pods perhaps find no nodes: what is known of it, and what is decided.
type site struct {
	subset *v1alpha1.Subset
	child  *Child // nil if there is none
	before *v1alpha1.UnitedDeploymentSubsetStatus
	target int32 // its pods by UD-3 and UD-20
	most   int32 // pods that it may have
	has    int32 // pods that its workload is to have now
	pods   []sitePod
	// ordered says that its workload numbers the pods, and removes those with the highest
	// numbers first.
	ordered bool
	// mixed says that its pods are at several revisions: which of them its workload removes
	// first depends on the update.
	mixed bool
	// current says that its workload and its pods are known as they are now.
	current bool

	closed   bool // its pods find no nodes
	since    time.Time
	reopens  bool
	own      int32 // of the target, what it runs itself
	moved    int32 // of the target, what others run
	reserved int32 // of its own, what others have substitutes for
	more     int32 // pods that it runs for others
}

// sitePod is a pod of a subset that has neither ended nor is being deleted.
type sitePod struct {
	*corev1.Pod
	rank                    int32 // in the order of ordinals; -1 for none
	scheduled, ready, stuck bool
}

func isScheduled(pod *sitePod) bool { return pod.scheduled }
func isReady(pod *sitePod) bool     { return pod.ready }
func isStuck(pod *sitePod) bool     { return pod.stuck }

// findSites finds out what is known of the subsets.
func (p *planner) findSites(how strategy) []*site {
	sites := make([]*site, len(p.plan.Subsets))
	byName := map[string]*site{}
	ending := map[*site]int32{}
	for i := range sites {
		plan := &p.plan.Subsets[i]
		s := &site{subset: &p.Set.Spec.Topology.Subsets[i], child: plan.Child, target: plan.Replicas, most: math.MaxInt32}
		if l, err := limitsOf(s.subset, p.replicas); err == nil && s.subset.Replicas == nil {
			s.most = l.most
		}
		for j := range p.Set.Status.SubsetStatuses {
			if before := &p.Set.Status.SubsetStatuses[j]; before.Name == plan.Name {
				s.before = before
			}
		}
		if s.child != nil {
			s.has, s.ordered = s.child.Replicas, s.child.Kind == StatefulSet || s.child.Kind == AdvancedStatefulSet
		}
		sites[i], byName[plan.Name] = s, s
	}
	for _, pod := range p.pods() {
		s := byName[subsetOf(pod.Labels)]
		if s == nil || !s.owns(pod) || podstate.Ended(pod) {
			continue
		}
		if pod.DeletionTimestamp != nil {
			ending[s]++
			continue
		}
		s.pods = append(s.pods, p.sitePod(s, pod, how))
	}
	for _, s := range sites {
		for i := range s.pods {
			s.mixed = s.mixed || generation(s.pods[i].Pod) != generation(s.pods[0].Pod)
		}
		if c := s.child; c != nil && c.Observed && c.Revision == p.revision {
			n := int32(len(s.pods))
			s.current = n == c.CurrentReplicas || s.ordered && n+ending[s] >= c.CurrentReplicas
		}
	}
	return sites
}

// owns tells whether a pod is one of the workload.
func (s *site) owns(pod *corev1.Pod) bool {
	if s.child == nil {
		return false
	}
	if s.child.Kind == Deployment {
		by := metav1.GetControllerOfNoCopy(pod)
		return by != nil && by.Kind == "ReplicaSet"
	}
	return metav1.IsControlledBy(pod, s.child.Object)
}

// sitePod finds out how a pod does.
func (p *planner) sitePod(s *site, pod *corev1.Pod, how strategy) sitePod {
	one := sitePod{Pod: pod, rank: -1, scheduled: pod.Spec.NodeName != "", ready: lifecycle.Ready(pod)}
	if s.ordered {
		one.rank = rank(s.child, pod.Name)
	}
	if lifecycle.Unschedulable(pod) {
		left := min(pod.CreationTimestamp.Add(how.critical).Sub(p.Now), how.critical) // a time in the future is by another clock
		if one.stuck = left <= 0; !one.stuck {
			p.again(left)
		}
	}
	return one
}

// rank is the place of a pod in the order of the ordinals of its workload, from 0; -1 if it
// has none.
func rank(of *Child, name string) int32 {
	_, ordinal, ok := podplan.SplitOrdinal(name)
	if !ok {
		return -1
	}
	switch o := of.Object.(type) {
	case *appsv1.StatefulSet:
		if o.Spec.Ordinals != nil {
			ordinal -= o.Spec.Ordinals.Start
		}
	case *v1beta1.StatefulSet:
		reserved, _ := workload.ParseReserved(o.Spec.Reserved()) // the controller of StatefulSets reports an entry that says nothing
		if reserved.Contains(int(ordinal)) {
			return -1
		}
		start := int32(0)
		if o.Spec.Ordinals != nil {
			start = o.Spec.Ordinals.Start
		}
		ordinal = int32(reserved.Rank(int(start), int(ordinal)))
	}
	return max(ordinal, -1)
}

// generation differs for pods of different revisions of a workload.
func generation(pod *corev1.Pod) [3]string {
	return [3]string{pod.Labels[v1alpha1.SubsetRevisionLabel], pod.Labels[appsv1.ControllerRevisionHashLabelKey], pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]}
}

// within counts pods of a sort among the n that the workload keeps when it is to have n. Those
// are the ones with the lowest ordinals. For other kinds they are as many as there are.
func (s *site) within(n int32, is func(*sitePod) bool) (count int32) {
	for i := range s.pods {
		if pod := &s.pods[i]; is(pod) && (!s.ordered || pod.rank >= 0 && pod.rank < n) {
			count++
		}
	}
	return min(count, n)
}

// room is how many more pods than its own the subset may have.
func (s *site) room() int32 { return max(0, s.most-s.own) }

// useful is how many pods beyond its own a subset has; if it is closed, those that have nodes.
func (s *site) useful() int32 {
	n := s.has
	switch {
	case s.closed && !s.ordered:
		n = s.within(s.has, isScheduled)
	case s.closed:
		n = 0
		for i := range s.pods {
			if pod := &s.pods[i]; pod.scheduled && pod.rank < s.has {
				n = max(n, pod.rank+1)
			}
		}
	}
	return max(0, n-s.own)
}

// gaps is how many of the pods that a closed subset runs for others find no nodes, or did and are not ready yet. A workload
// with ordinals keeps them as long as one with a higher ordinal serves.
func (s *site) gaps() int32 {
	if !s.closed || !s.ordered || s.more == 0 {
		return 0
	}
	among := func(is func(*sitePod) bool) int32 { return s.within(s.own+s.more, is) - s.within(s.own, is) }
	var before int32
	if s.before != nil {
		before = max(0, s.before.ReservedPods-s.reserved)
	}
	return max(s.more-among(isScheduled), min(before, s.more-among(isReady)))
}

// readyLost is how many ready pods it costs at most that the workload is to have n pods.
func (s *site) readyLost(n int32) int32 {
	ready := s.within(math.MaxInt32, isReady)
	if s.mixed && !s.ordered {
		return min(max(0, int32(len(s.pods))-n), ready)
	}
	return ready - s.within(n, isReady)
}

// removable is by how much the workload can be scaled in without the loss of a pod that has a
// node. Pods go then that find none. It is 0 if it is not certain which pods go.
func (s *site) removable() int32 {
	if !s.current {
		return 0
	}
	if !s.ordered {
		if s.mixed {
			return 0
		}
		return min(s.within(s.has, isStuck), max(0, s.has-s.within(s.has, isScheduled)))
	}
	byRank := map[int32]*sitePod{}
	for i := range s.pods {
		byRank[s.pods[i].rank] = &s.pods[i]
	}
	keep, stuck := s.has, false
	for ; keep > 0; keep-- {
		if pod := byRank[keep-1]; pod != nil && !pod.stuck {
			break
		} else if pod != nil {
			stuck = true
		}
	}
	if !stuck {
		return 0
	}
	return s.has - keep
}

// labelsAll tells whether pods that are not reserved have the label too. (UD-21.6)
func (p *planner) labelsAll() bool {
	s, adaptive := p.strategy()
	return p.Features.ReservedLabels && adaptive && s.reserve
}

// mark labels the pods that others have substitutes for, and takes the label from all others.
// (UD-21.3, UD-21.6)
func (p *planner) mark(sites []*site) {
	reserved := map[*corev1.Pod]bool{}
	for _, s := range sites {
		var waiting []*corev1.Pod
		for i := range s.pods {
			if pod := &s.pods[i]; !pod.ready {
				waiting = append(waiting, pod.Pod)
			}
		}
		slices.SortFunc(waiting, func(a, b *corev1.Pod) int {
			return cmp.Or(cmp.Compare(b.Labels[v1alpha1.ReservedPodLabel], a.Labels[v1alpha1.ReservedPodLabel]),
				cmp.Compare(a.Spec.NodeName, b.Spec.NodeName), cmp.Compare(a.Name, b.Name))
		})
		for _, pod := range waiting[:min(int(s.reserved), len(waiting))] {
			reserved[pod] = true
		}
	}
	p.plan.LabelAll = p.labelsAll()
	for _, pod := range p.pods() {
		label := pod.Labels[v1alpha1.ReservedPodLabel]
		switch marked := label == "true"; {
		case reserved[pod] && !marked:
			p.plan.Reserve = append(p.plan.Reserve, pod)
		case !reserved[pod] && (marked || p.plan.LabelAll && label != "false"):
			p.plan.Unreserve = append(p.plan.Unreserve, pod)
		}
	}
	byName := func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(p.plan.Reserve, byName)
	slices.SortFunc(p.plan.Unreserve, byName)
}
