// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// The resources of the workloads of subsets.
var unitedKinds = []string{"clonesets", "deployments", "statefulsets"}

// united is a UnitedDeployment at a moment, and the workloads that there are.
type united struct {
	*v1alpha1.UnitedDeployment
	state    *State
	resource string // of the workloads that it is to have; empty if the template is none, or several
	pods     *corev1.PodTemplateSpec
	children []unitedChild // all there are, by age and name
	// reads tells that minReplicas, maxReplicas and the schedule strategy are read.
	reads bool
	// tellsUpdated, tellsSubsets and labelsAll are those switches of the past.
	tellsUpdated, tellsSubsets, labelsAll bool
	// held tells that the revision of the template may be refused, so that the template is that of the current one. (CT-9)
	held bool
}

// unitedChild is a workload that may be that of a subset.
type unitedChild struct {
	Object
	resource  string
	subset    string
	revision  string
	replicas  int32
	partition int32 // -1 if it has none
	has, can  int32 // pods and ready ones, as its status says
	pods      *corev1.PodTemplateSpec
	paused    bool // which no template says
}

func unitedOf(s *State) *united {
	set, _ := s.Workload.(*v1alpha1.UnitedDeployment)
	if set == nil {
		return nil
	}
	u := &united{UnitedDeployment: set, state: s}
	u.hold()
	set = u.UnitedDeployment
	t, kinds := &set.Spec.Template, 0
	if of := t.CloneSetTemplate; of != nil {
		kinds, u.resource, u.pods = kinds+1, "clonesets", &of.Spec.Template
	}
	if of := t.DeploymentTemplate; of != nil {
		kinds, u.resource, u.pods = kinds+1, "deployments", &of.Spec.Template
	}
	if of := t.StatefulSetTemplate; of != nil {
		kinds, u.resource, u.pods = kinds+1, "statefulsets", &of.Spec.Template
	}
	if kinds != 1 {
		u.resource = ""
	}
	for _, resource := range unitedKinds {
		for _, object := range s.Further[resource] {
			u.children = append(u.children, childOf(resource, object))
		}
	}
	slices.SortFunc(u.children, func(a, b unitedChild) int {
		x, y := a.GetCreationTimestamp(), b.GetCreationTimestamp()
		return cmp.Or(x.Compare(y.Time), cmp.Compare(a.GetName(), b.GetName()))
	})
	return u
}

// hold has the template be that of the current revision, if no revision holds the present one, and its creation was refused. (CT-9)
func (u *united) hold() {
	current := templateIn(u.state.Revisions[u.Status.CurrentRevision])
	if current == nil || !u.state.refuses("create", "controllerrevisions") || holdsTemplate(u.state, u.UnitedDeployment) {
		return
	}
	u.UnitedDeployment, u.held = u.DeepCopy(), true
	u.Spec.Template = *current
}

func holdsTemplate(s *State, set *v1alpha1.UnitedDeployment) bool {
	return anyOf(maps.Values(s.Revisions), func(r *appsv1.ControllerRevision) bool {
		return equality.Semantic.DeepEqual(templateIn(r), &set.Spec.Template)
	})
}

func templateIn(r *appsv1.ControllerRevision) *v1alpha1.SubsetTemplate {
	var data struct {
		Spec struct{ Template *v1alpha1.SubsetTemplate }
	}
	if r == nil || json.Unmarshal(r.Data.Raw, &data) != nil {
		return nil
	}
	return data.Spec.Template
}

func childOf(resource string, object Object) unitedChild {
	l := object.GetLabels()
	c := unitedChild{Object: object, resource: resource, subset: l[v1alpha1.SubsetNameLabel], revision: l[v1alpha1.SubsetRevisionLabel], partition: -1}
	var selector *metav1.LabelSelector
	number := func(n *int32) int32 { return ptr.Deref(n, 1) }
	switch o := object.(type) {
	case *v1alpha1.CloneSet:
		selector, c.replicas, c.pods, c.has, c.can, c.paused = o.Spec.Selector, number(o.Spec.Replicas), &o.Spec.Template, o.Status.Replicas, o.Status.ReadyReplicas, o.Spec.UpdateStrategy.Paused
		c.partition = 0
		if p := o.Spec.UpdateStrategy.Partition; p != nil && p.Type == intstr.Int {
			c.partition = p.IntVal
		} else if p != nil {
			c.partition = math.MaxInt32
		}
	case *appsv1.Deployment:
		selector, c.replicas, c.pods, c.has, c.can, c.paused = o.Spec.Selector, number(o.Spec.Replicas), &o.Spec.Template, o.Status.Replicas, o.Status.ReadyReplicas, o.Spec.Paused
	case *appsv1.StatefulSet:
		selector, c.replicas, c.pods, c.has, c.can = o.Spec.Selector, number(o.Spec.Replicas), &o.Spec.Template, o.Status.Replicas, o.Status.ReadyReplicas
		c.partition = 0
		if r := o.Spec.UpdateStrategy.RollingUpdate; r != nil && r.Partition != nil {
			c.partition = *r.Partition
		}
	}
	if c.subset == "" && selector != nil {
		c.subset = selector.MatchLabels[v1alpha1.SubsetNameLabel]
	}
	return c
}

func (u *united) controls(object metav1.Object) bool { return controls(u.UID, object) }

// counts tells whether a workload may be that of a subset. (UD-2)
func (u *united) counts(c *unitedChild) bool {
	return c.GetDeletionTimestamp() == nil && c.subset != "" && matches(u.Spec.Selector, c.GetLabels())
}

// childOf is the workload of a subset; nil if there is none. Of several the oldest, unless they have no
// owner. (UD-2)
func (u *united) childOf(subset string) (child *unitedChild) {
	for c := range each(u.children) {
		if !u.counts(c) || c.subset != subset || c.resource != u.resource {
			continue
		}
		if u.controls(c) {
			return c
		}
		if metav1.GetControllerOfNoCopy(c) == nil && child == nil {
			child = c
		}
	}
	return child
}

func (u *united) subset(name string) *v1alpha1.Subset {
	return first(u.Spec.Topology.Subsets, func(s *v1alpha1.Subset) bool { return s.Name == name })
}

func (u *united) wants() int32 {
	if u.Spec.Replicas != nil {
		return max(*u.Spec.Replicas, 0)
	}
	sum, known := int32(0), false
	for subset := range each(u.Spec.Topology.Subsets) { // (UD-3.4)
		if n := subset.Replicas; n != nil && n.Type == intstr.Int {
			sum, known = sum+n.IntVal, true
		} else if c := u.childOf(subset.Name); c != nil {
			sum, known = sum+c.replicas, true
		}
	}
	if !known {
		return 1
	}
	return sum
}

// vague tells whether nothing says how many pods there are to be, but what runs. (UD-3.4)
func (u *united) vague() bool {
	subsets := u.Spec.Topology.Subsets
	return u.Spec.Replicas == nil && (len(subsets) == 0 || slices.ContainsFunc(subsets, func(s v1alpha1.Subset) bool {
		return s.Replicas == nil || s.Replicas.Type != intstr.Int
	}))
}

// allocated is what each subset is to have; false if that cannot be told. (UD-3)
func (u *united) allocated() (map[string]int32, bool) {
	if u.limited() {
		return u.within()
	}
	subsets, total := u.Spec.Topology.Subsets, u.wants()
	if u.vague() && u.moves() {
		return nil, false
	}
	given, weights := make([]int32, len(subsets)), make([]float64, len(subsets))
	var open []string
	sum := int32(0)
	for i := range subsets {
		switch n := subsets[i].Replicas; {
		case n == nil, u.vague() && n.Type == intstr.String && strings.HasSuffix(n.StrVal, "%"):
			open = append(open, subsets[i].Name)
			continue
		case n.Type == intstr.Int:
			given[i], weights[i] = n.IntVal, float64(n.IntVal)
		default:
			percent, err := strconv.Atoi(strings.TrimSuffix(n.StrVal, "%"))
			if err != nil || percent > 100 || !strings.HasSuffix(n.StrVal, "%") {
				return nil, false
			}
			weights[i] = float64(total) * float64(percent) / 100
			given[i] = int32(math.Floor(weights[i] + 0.5))
		}
		sum += given[i]
	}
	result := map[string]int32{}
	rest := total - sum
	switch {
	case len(subsets) == 0:
	case rest < 0 || rest > 0 && len(open) == 0:
		inProportion(total, weights, given)
	case len(open) > 0:
		now := func(name string) int32 {
			if c := u.childOf(name); c != nil && !u.moves() {
				return c.replicas
			}
			return 0
		}
		slices.SortFunc(open, func(a, b string) int { return cmp.Or(cmp.Compare(now(b), now(a)), cmp.Compare(b, a)) })
		for i, name := range open {
			result[name] = (rest + int32(len(open)-1-i)) / int32(len(open))
		}
	}
	for i := range subsets {
		if _, isOpen := result[subsets[i].Name]; !isOpen {
			result[subsets[i].Name] = given[i]
		}
	}
	return result, true
}

// inProportion splits a number in the proportion of weights. (UD-3.2)
func inProportion(total int32, weights []float64, into []int32) {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	lost, order := make([]float64, len(weights)), make([]int, len(weights))
	left := total
	for i, w := range weights {
		exact := float64(total) / float64(len(weights))
		if sum > 0 {
			exact = float64(total) * w / sum
		}
		into[i] = int32(math.Floor(exact + 1e-9))
		lost[i], order[i] = math.Round((exact-float64(into[i]))*1e6), i
		left -= into[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lost[b], lost[a]) })
	for _, i := range order[:left] {
		into[i]++
	}
}

// partitioned is how many pods a subset with so many holds back. (UD-4)
func (u *united) partitioned(subset string, replicas int32) int32 {
	if m := u.Spec.UpdateStrategy.ManualUpdate; m != nil {
		return min(max(m.Partitions[subset], 0), replicas)
	}
	return 0
}
