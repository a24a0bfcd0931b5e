// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
		w.After = at(testPod(args[0], args[1], edits([]string{"state=Normal"})...), edits(args[2:])...) // it waits for no hook (STS-5)
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
			"going":     going,
			"failed":    func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed },
			"disowned":  func(p *corev1.Pod) { p.OwnerReferences = nil },
			"another":   func(p *corev1.Pod) { p.UID, p.OwnerReferences = "another", nil },
			"strange":   func(p *corev1.Pod) { p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = "other", "uid-other" },
			"ready":     func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionTrue },
			"notready":  func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse },
			"stateless": func(p *corev1.Pod) { delete(p.Labels, lifecyclev1alpha1.StateLabel) },
			"state":     labelled(lifecyclev1alpha1.StateLabel, value),
			"instance":  labelled(v1alpha1.CloneSetInstanceIDLabel, value),
			"name":      labelled(appsv1.StatefulSetPodNameLabel, value),
			"specified": labelled(lifecyclev1alpha1.SpecifiedDeleteLabel, ""),
			"label":     labelled(value, "true"),
			"revision":  labelled(revisionLabel, "web-"+value),
			"image":     func(p *corev1.Pod) { p.Spec.Containers[0].Image = "nginx:" + value },
			"ready-since": func(p *corev1.Pod) {
				p.Status.Conditions[0].LastTransitionTime = metav1.NewTime(testTime.Add(-time.Duration(number(value)) * time.Second))
			},
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

// cloneSetSettings are what a word, or WORD=VALUE, sets in a CloneSet.
var cloneSetSettings = map[string]string{
	"paused":           `{"updateStrategy":{"paused":true}}`,
	"partition":        `{"updateStrategy":{"partition":VALUE}}`,
	"maxSurge":         `{"updateStrategy":{"maxSurge":VALUE}}`,
	"maxUnavailable":   `{"updateStrategy":{"maxUnavailable":VALUE}}`,
	"scaleUnavailable": `{"scaleStrategy":{"maxUnavailable":VALUE}}`,
	"minReady":         `{"minReadySeconds":VALUE}`,
	"template":         `{"template":{"spec":{"containers":[{"name":"main","image":"nginx:VALUE"}]}}}`,
	"unselected":       `{"selector":null}`,
	"hooked":           `{"lifecycle":{"preDelete":{"labelsHandler":{"hold":"true"}},"inPlaceUpdate":{"labelsHandler":{"hold":"true"}}}}`,
}

// statefulSetSettings are the same of a StatefulSet.
var statefulSetSettings = map[string]string{
	"parallel":         `{"podManagementPolicy":"Parallel"}`,
	"paused":           `{"updateStrategy":{"rollingUpdate":{"paused":true}}}`,
	"partition":        `{"updateStrategy":{"rollingUpdate":{"partition":VALUE}}}`,
	"unordered":        `{"updateStrategy":{"rollingUpdate":{"unorderedUpdate":{}}}}`,
	"minReady":         `{"updateStrategy":{"rollingUpdate":{"minReadySeconds":VALUE}}}`,
	"onDelete":         `{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}`,
	"reserved":         `{"reserveOrdinals":[VALUE]}`,
	"scaleUnavailable": `{"scaleStrategy":{"maxUnavailable":VALUE}}`,
	"history":          `{"revisionHistoryLimit":VALUE}`,
	"whenDeleted":      `{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"VALUE"}}`,
	"whenScaled":       `{"persistentVolumeClaimRetentionPolicy":{"whenScaled":"VALUE"}}`,
	"size":             `{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"storageClassName":"fast","resources":{"requests":{"storage":"VALUE"}}}}]}`,
	"grows":            `{"volumeClaimUpdateStrategy":{"type":"OnPodRollingUpdate"}}`,
}

// set sets a spec: replicas first, and then what words say.
func set(spec any, settings map[string]string, words []string) {
	for i, word := range words {
		key, value, _ := strings.Cut(word, "=")
		patch := settings[key]
		if i == 0 {
			patch, value = `{"replicas":VALUE}`, word
		}
		if err := json.Unmarshal([]byte(strings.ReplaceAll(patch, "VALUE", value)), spec); err != nil {
			panic(word + ": " + err.Error())
		}
	}
}

// cloneSet is a CloneSet that updates in place within maxUnavailable 1.
func cloneSet(words []string) *v1alpha1.CloneSet {
	of := &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "set"}}
	of.Spec.Selector, of.Spec.Template = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, imageTemplate("b")
	of.Spec.UpdateStrategy = v1alpha1.CloneSetUpdateStrategy{Type: v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType, MaxUnavailable: ptr.To(intstr.FromInt32(1))}
	of.Status.CurrentRevision = "web-a"
	set(&of.Spec, cloneSetSettings, words)
	return of
}

// statefulSet is a StatefulSet that updates in place.
func statefulSet(words []string) *v1beta1.StatefulSet {
	of := &v1beta1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "set"}}
	of.Spec.Selector, of.Spec.Template = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, imageTemplate("b")
	of.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	of.Spec.UpdateStrategy.RollingUpdate = &v1beta1.RollingUpdateStatefulSetStrategy{PodUpdatePolicy: v1beta1.InPlaceIfPossiblePodUpdateStrategyType}
	of.Status.CurrentRevision = "web-a"
	set(&of.Spec, statefulSetSettings, words)
	return of
}

var testTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

type podEdit func(*corev1.Pod)

// testPod is an available pod of the set with the UID set.
func testPod(name, revision string, edits ...podEdit) *corev1.Pod {
	return at(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID("uid-" + name),
			Labels: map[string]string{"app": "web", revisionLabel: "web-" + revision,
				v1alpha1.CloneSetInstanceIDLabel: name[len("web-"):], appsv1.StatefulSetPodNameLabel: name, appsv1.PodIndexLabel: name[len("web-"):]},
			OwnerReferences: []metav1.OwnerReference{{Kind: "Set", Name: "web", UID: "set", Controller: ptr.To(true)}},
		},
		Spec: corev1.PodSpec{NodeName: "node", Hostname: name, Containers: []corev1.Container{{Name: "main", Image: "nginx:" + revision}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(testTime.Add(-time.Minute))}}},
	}, edits...)
}

func going(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: testTime} }

func labelled(key, value string) podEdit {
	return func(p *corev1.Pod) { p.Labels[key] = value }
}

// at returns the pod in another state, as a write leaves it.
func at(pod *corev1.Pod, edits ...podEdit) *corev1.Pod {
	pod = pod.DeepCopy()
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

// testRevision is a revision of the template of an image.
func testRevision(n int64, revision string) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: "web-" + revision, Labels: map[string]string{"app": "web"}}, Revision: n,
		Data: runtime.RawExtension{Raw: []byte(`{"spec":{"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":"nginx:` + revision + `"}]}}}}`)},
	}
}

// testState is what there is: a set of the template b, updated from a.
func testState(set Object) *State {
	return &State{Now: testTime, Workload: set, Pods: map[string]*corev1.Pod{}, Claims: map[string]*corev1.PersistentVolumeClaim{},
		Revisions: map[string]*appsv1.ControllerRevision{"web-a": testRevision(1, "a"), "web-b": testRevision(2, "b")}}
}

// imageTemplate is the template of a revision.
func imageTemplate(revision string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:" + revision}}},
	}
}
