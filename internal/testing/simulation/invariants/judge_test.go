// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TestJudges shows what judges say of single writes. Each directive "judge" is a state that the author of the write knows in full, and
// the write. The workload is web, which goes from revision a to b. Shown is what the write breaks.
//
//	cloneset|statefulset REPLICAS SETTING…
//	conditions TYPE MESSAGE…, replicas 1        of the status of the workload, which counts one pod
//	past, past-of resizes|pre-normal            the pods that follow were seen before, and a was current; features of StatefulSets
//	pod NAME REVISION EDIT…, claim NAME ASKS HAS CONDITION…, owned-claim NAME OWNER…
//	unseen REVISION, expandable, refused VERB RESOURCE
//	                                            the author does not know a revision; claims can grow; what it was refused before
//
// The write is one of:
//
//	create NAME REVISION EDIT…
//	delete NAME EDIT…                           the edits have changed the pod since
//	remove NAME                                 the pod is gone at once
//	patch NAME EDIT…
//	own-claim NAME OWNER…, delete-claim NAME, delete-revision REVISION [changed]
//	current REVISION                            the status says that this is the current revision
//	settled, settled-claims, says-mount         none: all has settled
func TestJudges(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			c := &testCase{t: t, state: testState(nil)}
			for line := range strings.Lines(d.Input) {
				c.line(strings.Fields(line))
			}
			if len(c.violations) == 0 {
				return "nothing\n"
			}
			var out strings.Builder
			for _, v := range c.violations {
				fmt.Fprintln(&out, v)
			}
			return out.String()
		})
	})
}

// testCase is a state, and what a judge has said.
type testCase struct {
	t          *testing.T
	state      *State
	cloneSet   *v1alpha1.CloneSet
	set        *v1beta1.StatefulSet
	past       *Past
	unseen     string
	refused    []Refusal
	violations violations
}

func (c *testCase) line(words []string) {
	name, args := words[0], words[1:]
	switch name {
	case "cloneset":
		c.cloneSet = cloneSet(args)
		c.state.Workload = c.cloneSet
	case "statefulset":
		c.set = statefulSet(args)
		c.state.Workload = c.set
	case "replicas":
		c.set.Status.Replicas = 1
	case "conditions":
		c.set.Status.Replicas = 1
		c.set.Status.Conditions = []appsv1.StatefulSetCondition{
			{Type: appsv1.StatefulSetConditionType(args[0]), Status: corev1.ConditionTrue, Message: strings.Join(args[1:], " ")}}
	case "past":
		c.past = NewPast()
		c.past.becomesCurrent(c.set.UID, "a")
	case "past-of":
		c.past = NewPast()
		c.past.StatefulSets.ResizeClaims, c.past.StatefulSets.PreNormal = args[0] == "resizes", args[0] == "pre-normal"
	case "pod":
		c.state.Pods[args[0]] = testPod(args[0], args[1], edits(args[2:])...)
		if c.past != nil {
			c.past.Observe(&Change{After: c.state.Pods[args[0]]})
		}
	case "claim", "owned-claim":
		c.state.Claims[args[0]] = testClaim(name, args)
	case "expandable":
		c.state.Expandable = []string{"fast"}
	case "unseen":
		c.unseen = "web-" + args[0]
	case "refused":
		c.refused = append(c.refused, Refusal{Verb: args[0], Resource: args[1]})
	default:
		c.judge(name, args)
	}
}

// judge has a write judged.
func (c *testCase) judge(name string, args []string) {
	known := *c.state
	known.Revisions = map[string]*appsv1.ControllerRevision{"web-c": testRevision(3, "c")}
	for name, r := range c.state.Revisions {
		known.Revisions[name] = r
	}
	if name != "delete-revision" && name != "current" {
		delete(known.Revisions, "web-c")
	}
	truth := known
	if c.unseen != "" {
		known.Revisions = map[string]*appsv1.ControllerRevision{"web-a": known.Revisions["web-a"]}
	}
	w := &Write{Verb: name, Resource: "pods", Refused: c.refused, Truth: &truth, Known: &known, Observed: &known}
	j := func() *statefulSetJudge { return newStatefulSetJudge(&c.violations, w, c.set, c.past) }
	switch name {
	case "create":
		w.After = at(testPod(args[0], args[1], inNormal), edits(args[2:])...)
	case "delete":
		before := at(c.state.Pods[args[0]], edits(args[1:])...)
		w.Before, w.After = before, at(before, going)
	case "remove":
		w.Verb, w.Before = "delete", c.state.Pods[args[0]]
	case "patch":
		w.Before = c.state.Pods[args[0]]
		w.After = at(c.state.Pods[args[0]], edits(args[1:])...)
	case "own-claim", "delete-claim":
		w.Verb, w.Resource = "patch", "persistentvolumeclaims"
		w.Before = c.state.Claims[args[0]]
		if w.After = testClaim(name, args); name == "delete-claim" {
			w.Verb, w.After = "delete", nil
		}
	case "delete-revision":
		for _, r := range known.Revisions {
			r.OwnerReferences = testPod("web-0", "a").OwnerReferences
		}
		w.Verb, w.Resource, w.Before, w.Asked = "delete", "controllerrevisions", known.Revisions["web-"+args[0]], &Preconditions{UID: "uid", ResourceVersion: "1"}
		if len(args) > 1 {
			w.Asked = &Preconditions{UID: "uid"}
		}
	case "current":
		j().checkCurrent(&v1beta1.StatefulSetStatus{CurrentRevision: "web-" + args[0], UpdateRevision: "web-b"})
		return
	case "settled":
		j().checkConverged(&known)
		return
	case "says-mount":
		j().checkSaysMount(&known)
		return
	case "settled-claims":
		c.past = NewPast()
		c.past.Observe(&Change{After: statefulSet([]string{"2"})}) // it had the template once
		c.set.Spec.VolumeClaimTemplates = nil
		j().checkSettledClaims(&known)
		return
	default:
		c.t.Fatalf("unknown line %s", name)
	}
	if c.cloneSet != nil {
		c.violations = CloneSet(w, CloneSetFeatures{})
	} else {
		c.violations = c.past.StatefulSet(w)
	}
}

// edits are what the words say of a pod.
func edits(words []string) (edits []podEdit) {
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		edits = append(edits, map[string]podEdit{
			"notready": notReady, "failed": failed, "going": going, "disowned": disowned, "another": replaced, "strange": strange,
			"ready":       func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionTrue },
			"stateless":   func(p *corev1.Pod) { delete(p.Labels, lifecyclev1alpha1.StateLabel) },
			"state":       labelled(lifecyclev1alpha1.StateLabel, value),
			"instance":    labelled(v1alpha1.CloneSetInstanceIDLabel, value),
			"name":        labelled(appsv1.StatefulSetPodNameLabel, value),
			"specified":   labelled(lifecyclev1alpha1.SpecifiedDeleteLabel, ""),
			"label":       labelled(value, "true"),
			"revision":    labelled(revisionLabel, "web-"+value),
			"image":       func(p *corev1.Pod) { p.Spec.Containers[0].Image = "nginx:" + value },
			"ready-since": youngFor(number(value)),
			"out": func(p *corev1.Pod) {
				p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: inplacev1alpha1.InPlaceUpdateReady, Status: corev1.ConditionFalse})
			},
			"adopted": func(p *corev1.Pod) { p.OwnerReferences = testPod(p.Name, "a").OwnerReferences },
			"mounts": func(p *corev1.Pod) {
				p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
					PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: value}}}}
			},
		}[key])
	}
	return edits
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// inNormal is the state in which a pod is created that waits for no hook. (STS-5)
func inNormal(p *corev1.Pod) { labelled(lifecyclev1alpha1.StateLabel, "Normal")(p) }

// strange makes a pod one of another controller.
func strange(p *corev1.Pod) {
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "Set", Name: "other", UID: "uid-other", Controller: ptr.To(true)}}
}

// testClaim is a claim. It has owners, given as NAME or NAME@UID. Or it is of the class fast, and has what it asks for, what it has,
// and conditions.
func testClaim(what string, args []string) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: args[0]}}
	if what != "claim" {
		for _, name := range args[1:] {
			name, uid, _ := strings.Cut(name, "@")
			o := metav1.OwnerReference{Kind: "Pod", Name: name, UID: types.UID(cmp.Or(uid, "uid-"+name))}
			if name == "web" {
				o = metav1.OwnerReference{Kind: "StatefulSet", Name: "web", UID: "set"}
			}
			claim.OwnerReferences = append(claim.OwnerReferences, o)
		}
		return claim
	}
	claim.Spec.StorageClassName, claim.Spec.Resources.Requests = ptr.To("fast"), storage(args[1])
	claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: storage(args[2])}
	for _, c := range args[3:] {
		claim.Status.Conditions = append(claim.Status.Conditions,
			corev1.PersistentVolumeClaimCondition{Type: corev1.PersistentVolumeClaimConditionType(c), Status: corev1.ConditionTrue})
	}
	return claim
}

func storage(size string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
}

// cloneSet is a CloneSet of so many replicas, which updates in place within maxUnavailable 1.
func cloneSet(words []string) *v1alpha1.CloneSet {
	set := &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "set"}}
	s := &set.Spec
	s.Replicas, s.Selector, s.Template = ptr.To(int32(number(words[0]))), &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, testTemplate
	s.UpdateStrategy = v1alpha1.CloneSetUpdateStrategy{Type: v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType, MaxUnavailable: ptr.To(intstr.FromInt32(1))}
	set.Status.CurrentRevision = "web-a"
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		n := intstr.FromInt(number(value))
		switch key {
		case "paused":
			s.UpdateStrategy.Paused = true
		case "partition":
			s.UpdateStrategy.Partition = &n
		case "maxSurge":
			s.UpdateStrategy.MaxSurge = &n
		case "maxUnavailable":
			s.UpdateStrategy.MaxUnavailable = &n
		case "scaleUnavailable":
			s.ScaleStrategy.MaxUnavailable = &n
		case "minReady":
			s.MinReadySeconds = n.IntVal
		case "template":
			s.Template = imageTemplate(value)
		case "unselected":
			s.Selector = nil
		case "hooked":
			hook := &lifecyclev1alpha1.LifecycleHook{LabelsHandler: map[string]string{"hold": "true"}}
			s.Lifecycle = &lifecyclev1alpha1.Lifecycle{PreDelete: hook, InPlaceUpdate: hook}
		default:
			panic("unknown setting " + word)
		}
	}
	return set
}

// statefulSet is a StatefulSet of so many replicas, which updates in place.
func statefulSet(words []string) *v1beta1.StatefulSet {
	set := &v1beta1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "set"}}
	s, rolling := &set.Spec, &v1beta1.RollingUpdateStatefulSetStrategy{PodUpdatePolicy: v1beta1.InPlaceIfPossiblePodUpdateStrategyType}
	s.Replicas, s.Selector, s.Template = ptr.To(int32(number(words[0]))), &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, testTemplate
	s.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	s.UpdateStrategy.RollingUpdate = rolling
	set.Status.CurrentRevision = "web-a"
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch n := int32(number(value)); key {
		case "parallel":
			s.PodManagementPolicy = appsv1.ParallelPodManagement
		case "paused":
			rolling.Paused = true
		case "partition":
			rolling.Partition = &n
		case "unordered":
			rolling.UnorderedUpdate = &v1beta1.UnorderedUpdateStrategy{}
		case "minReady":
			rolling.MinReadySeconds = &n
		case "onDelete":
			s.UpdateStrategy = v1beta1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
		case "reserved":
			s.ReserveOrdinals = []int{int(n)}
		case "scaleUnavailable":
			s.ScaleStrategy = &v1beta1.StatefulSetScaleStrategy{MaxUnavailable: ptr.To(intstr.FromInt32(n))}
		case "history":
			s.RevisionHistoryLimit = &n
		case "whenDeleted", "whenScaled":
			if s.PersistentVolumeClaimRetentionPolicy == nil {
				s.PersistentVolumeClaimRetentionPolicy = &v1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: "Retain", WhenScaled: "Retain"}
			}
			policy := appsv1.PersistentVolumeClaimRetentionPolicyType(value)
			if key == "whenDeleted" {
				s.PersistentVolumeClaimRetentionPolicy.WhenDeleted = policy
			} else {
				s.PersistentVolumeClaimRetentionPolicy.WhenScaled = policy
			}
		case "grows", "size":
			s.VolumeClaimTemplates[0].Spec = corev1.PersistentVolumeClaimSpec{
				StorageClassName: ptr.To("fast"), Resources: corev1.VolumeResourceRequirements{Requests: storage(value)}}
			if key == "grows" {
				s.VolumeClaimUpdateStrategy = &v1beta1.StatefulSetVolumeClaimUpdateStrategy{Type: v1beta1.OnPodRollingUpdateVolumeClaimUpdateStrategyType}
			}
		default:
			panic("unknown setting " + word)
		}
	}
	return set
}

// TestRevisionOfAnotherDaemonSetManager: CT-9. While the revision of the template is refused, new pods are of the current one.
func TestRevisionOfAnotherDaemonSetManager(t *testing.T) {
	set := &v1alpha1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "set"}, Spec: v1alpha1.DaemonSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Template: testTemplate}}
	known := testState(set)
	delete(known.Revisions, "web-b")
	for _, tt := range []struct {
		refused []Refusal
		want    string
	}{{[]Refusal{{Verb: "create", Resource: "controllerrevisions"}}, ""}, {nil, "b"}} {
		j := newDaemonSetJudge(&violations{}, &Write{Refused: tt.refused, Truth: testState(set), Known: known, Observed: known}, set, NewPast())
		if j.update != tt.want {
			t.Errorf("refused %v: the update revision is %q, want %q", tt.refused, j.update, tt.want)
		}
	}
}
