// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// anySet is a StatefulSet of a seed.
func anySet(r *rand.Rand) simulation.Object {
	set := testSet(1 + r.Int32N(4))
	set.Spec.Template.Labels = simulation.PodLabels(r)
	set.Spec.PodManagementPolicy = []appsv1.PodManagementPolicyType{appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement}[r.IntN(2)]
	set.Spec.UpdateStrategy.RollingUpdate.PodUpdatePolicy = []v1beta1.PodUpdateStrategyType{
		v1beta1.RecreatePodUpdateStrategyType, v1beta1.InPlaceIfPossiblePodUpdateStrategyType, v1beta1.InPlaceOnlyPodUpdateStrategyType}[r.IntN(3)]
	if r.IntN(4) == 0 { // without it nothing but its containers tells how far a pod is
		set.Spec.Template.Spec.ReadinessGates = nil
	}
	if r.IntN(2) == 0 {
		set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
		for range 2 {
			simulation.Merge(set, simulation.AnyEdit(r, retentionEdits))
		}
	}
	for _, hook := range simulation.Hooks {
		if r.IntN(4) == 0 {
			simulation.Merge(set, hook(r))
		}
	}
	for range r.IntN(8) {
		simulation.Merge(set, anyEdit(r, set))
	}
	return set
}

// edits are what users change about a StatefulSet.
var edits = slices.Concat(simulation.ReadEdits("edits"), []simulation.Edit{
	func(r *rand.Rand) string { return simulation.AnyEdit(r, retentionEdits) },
}, simulation.ReadEdits("moreEdits"), simulation.Hooks)

var retentionEdits = simulation.ReadEdits("retentionEdits")

// parallelEdits are those that need Parallel.
var parallelEdits = simulation.ReadEdits("parallelEdits")

// rareEdits are what users change seldom.
var rareEdits = append(simulation.ReadEdits("rareEdits"), simulation.RareHooks...)

// anyEdit is a change of a StatefulSet.
func anyEdit(r *rand.Rand, set *v1beta1.StatefulSet) string {
	if set.Spec.PodManagementPolicy == appsv1.ParallelPodManagement && r.IntN(5) == 0 {
		return simulation.AnyEdit(r, parallelEdits)
	}
	return simulation.AnyEdit(r, edits)
}

// mistakes are what only a webhook would refuse.
var mistakes = simulation.ReadMistakes("mistakes")

// act is what users, and the owners of hooks, do in a step.
func act(u *simulation.User, r *rand.Rand) {
	pod := u.AnyPod(r)
	switch n := r.IntN(28); {
	case n == 0:
		u.Err(r, mistakes)
	case n < 14 || pod == nil:
		u.Edit(anyEdit(r, u.Workload().(*v1beta1.StatefulSet)))
	case n < 20:
		u.AnswerHook(pod)
	default:
		actOnPod(u, r, pod)
	}
}

// actOnPod is what users do to single pods and their claims.
func actOnPod(u *simulation.User, r *rand.Rand, pod *corev1.Pod) {
	switch r.IntN(8) {
	case 0:
		u.CreateStranger(fmt.Sprint("web-", r.IntN(8)))
	case 1:
		u.Disown(pod)
	case 2: // when it was left over perhaps
		if ordinal := simulation.Ordinal(pod); ordinal >= 0 && r.IntN(2) == 0 {
			u.Edit(fmt.Sprintf(`{"spec":{"replicas":%d}}`, ordinal))
		}
		u.TakeName(pod)
	case 3:
		u.DeleteClaim("data-" + pod.Name)
	case 4, 5:
		u.Quarantine(pod)
	case 6:
		u.Corrupt(pod)
	case 7:
		u.CreateRevision(fmt.Sprint("web-", r.IntN(3)))
	}
}

// push is all that users do in the end. They push a template whose pods run. They take back what asks for a standstill, or what
// nothing else can undo by the rules. All else is for the controller to overcome.
func push(u *simulation.User, rules invariants.StatefulSetFeatures) {
	set := u.Workload().(*v1beta1.StatefulSet)
	u.TakeBack(set, slices.Concat(laterMistakes, mistakes)...)
	const running = `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:9"}]}},
		"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"paused":false}}}}`
	u.Edit(running)
	simulation.Merge(set, running)
	free(u, set, rules)
}

// free undoes what only users can:
//   - pods of other owners have the names of wanted ones (STS-2: they are not the
//     set's to remove);
//   - pods that are left over are not ready, although nothing has happened for an
//     hour, which halts OrderedReady (STS-11);
//   - the partition holds back pods that do not work, or whose record of an update
//     was spoilt in its midst (STS-17);
//   - such pods come back at a current revision that does not work (STS-3);
//   - the record of an update of a pod that waits for its preNormal hook was spoilt (STS-36);
//   - podUpdatePolicy InPlaceOnly forbids to recreate pods that cannot go in place
//     (STS-20).
func free(u *simulation.User, set *v1beta1.StatefulSet, rules invariants.StatefulSetFeatures) {
	wanted := invariants.WantedOrdinals(set, rules)
	lower, recreate := false, false
	known := map[string]bool{}
	for _, r := range u.Revisions() {
		known[r.Name] = true
		lower = lower || r.Name == set.Status.CurrentRevision && bytes.Contains(r.Data.Raw, []byte("bad"))
	}
	for _, pod := range u.Pods() {
		ordinal := simulation.Ordinal(pod)
		isWanted := slices.Contains(wanted, ordinal)
		controller := metav1.GetControllerOf(pod)
		own := pod.Labels["app"] == "web" && (controller == nil || controller.UID == set.UID)
		main := append(pod.Spec.Containers, corev1.Container{})[0]
		switch works := !strings.Contains(main.Image, "bad"); {
		case ordinal < 0 || pod.Name != fmt.Sprint(set.Name, "-", ordinal):
		case !own && isWanted, own && !isWanted && !simulation.Ready(pod):
			u.DeletePod(pod.Name, nil)
		case own && isWanted:
			spoilt := pod.Annotations[inplacev1alpha1.StateAnnotation] == "{"
			if spoilt && rules.PreNormal && pod.Labels[lifecyclev1alpha1.StateLabel] == string(lifecyclev1alpha1.StatePreparingNormal) {
				u.PatchPod(pod.Name, `{"metadata":{"annotations":{"`+inplacev1alpha1.StateAnnotation+`":null}}}`)
			}
			lower = lower || !works || spoilt && !simulation.Ready(pod)
			recreate = recreate || main.Image == "" || len(main.Env) > 0 || !known[pod.Labels[appsv1.ControllerRevisionHashLabelKey]] || spoilt
		}
	}
	if lower {
		u.Edit(`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}`)
	}
	if recreate && set.Spec.UpdateStrategy.RollingUpdate.PodUpdatePolicy == v1beta1.InPlaceOnlyPodUpdateStrategyType {
		u.Edit(`{"spec":{"updateStrategy":{"rollingUpdate":{"podUpdatePolicy":"InPlaceIfPossible"}}}}`)
	}
}
