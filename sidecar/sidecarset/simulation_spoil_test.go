// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// inPlan plants a bug into plans, misreading into what planners see.
var (
	inPlan     = planted.InPlan[Options, Snapshot, Plan]
	misreading = planted.MisreadAll[Options, Snapshot, Plan]
)

// inPods plants a bug into how planners see pods.
func inPods(spoil func(*Snapshot, *corev1.Pod)) bug {
	return misreading(func(s *Snapshot) {
		for _, pod := range s.Pods {
			spoil(s, pod)
		}
	})
}

// inPatches plants a bug into the patches of pods, and drops those of which spoil says so.
func inPatches(spoil func(*Snapshot, *rollout.PodPatch) (stays bool)) bug {
	return inPlan(func(s *Snapshot, p *Plan) {
		p.Patch = slices.DeleteFunc(p.Patch, func(patch rollout.PodPatch) bool { return !spoil(s, &patch) })
	})
}

// inStrategy plants a bug into how planners read the update strategy of so many pods.
func inStrategy(spoil func(s *v1alpha1.SidecarSetUpdateStrategy, matched int)) bug {
	return misreading(func(s *Snapshot) {
		spoil(&s.Set.Spec.UpdateStrategy, int(NewPlan(s).Rollout.Matched))
	})
}

// scaled is a number of pods.
func scaled(value *intstr.IntOrString, otherwise, of int, up bool) int {
	if value == nil {
		return otherwise
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(value, of, up)
	if err != nil {
		return otherwise
	}
	return n
}

// eachStatus changes all statuses of containers.
func eachStatus(pods []*corev1.Pod, spoil func(*corev1.Pod, *corev1.ContainerStatus)) {
	for _, pod := range pods {
		for i := range pod.Status.ContainerStatuses {
			spoil(pod, &pod.Status.ContainerStatuses[i])
		}
	}
}

func encoded(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// annotatePod writes an annotation of a pod.
func annotatePod(pod *corev1.Pod, key string, value any) {
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, encoded(value))
}

// onlyOwn drops entries of others from an annotation that a patch writes.
func onlyOwn(p *rollout.PodPatch, key string, own ...string) bool {
	var entries map[string]any
	if text := p.Patch.Annotations[key]; text != nil && json.Unmarshal([]byte(*text), &entries) == nil {
		maps.DeleteFunc(entries, func(name string, _ any) bool { return !slices.Contains(own, name) })
		p.Patch.SetAnnotation(key, encoded(entries))
	}
	return true
}

// rerecord changes the record that a patch writes.
func rerecord(s *Snapshot, p *rollout.PodPatch, change func(*v1alpha1.SidecarSetUpgradeRecord)) bool {
	const key = v1alpha1.SidecarSetHashAnnotation
	if text := p.Patch.Annotations[key]; text != nil {
		records, err := injection.Records(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{key: *text}}}, key)
		if err != nil {
			panic(err)
		}
		record := records[s.Set.Name]
		change(&record)
		records[s.Set.Name] = record
		p.Patch.SetAnnotation(key, encoded(records))
	}
	return true
}

// twin is the other one of both hot containers.
func twin(name string) string {
	if base, is := strings.CutSuffix(name, "-1"); is {
		return base + "-2"
	}
	return strings.TrimSuffix(name, "-2") + "-1"
}

// forgetState forgets that a pod was updated before.
func forgetState(_ *Snapshot, pod *corev1.Pod) {
	delete(pod.Annotations, v1alpha1.SidecarSetInPlaceUpdateStateAnnotation)
}

// emptyEarly empties hot containers as if all others served.
func emptyEarly(s *Snapshot, p *Plan) {
	early := *s
	early.Pods = nil
	for _, pod := range s.Pods {
		early.Pods = append(early.Pods, pod.DeepCopy())
	}
	eachStatus(early.Pods, func(pod *corev1.Pod, status *corev1.ContainerStatus) {
		if c := podstate.Container(pod, status.Name); c != nil {
			status.Image, status.Ready = c.Image, true
		}
	})
	for _, patch := range NewPlan(&early).Patch {
		same := func(other rollout.PodPatch) bool { return other.Pod.UID == patch.Pod.UID }
		if patch.Kind == PatchReset && !slices.ContainsFunc(p.Patch, same) {
			p.Patch = append(p.Patch, patch)
		}
	}
}

// remember keeps pods that are gone since they were updated.
func remember(known map[string]*corev1.Pod) func(*Snapshot) {
	return func(s *Snapshot) {
		there := map[string]bool{}
		for _, pod := range s.Pods {
			there[pod.Name] = true
			if pod.Annotations[v1alpha1.SidecarSetInPlaceUpdateStateAnnotation] != "" && pod.DeletionTimestamp == nil {
				known[pod.Name] = pod
			}
		}
		for _, name := range slices.Sorted(maps.Keys(known)) {
			if !there[name] {
				s.Pods = append(s.Pods, known[name])
			}
		}
	}
}

// updateInTurn updates pods again and again.
func updateInTurn(u *simulation.User, r *rand.Rand) {
	editContainers(u, func(c *v1alpha1.SidecarContainer) {
		c.Image = fmt.Sprint(c.Name, ":", []string{"1", "2", "3", "4", "bad"}[r.IntN(5)])
	})
}

// updatingOr updates pods in turn, or makes an edit.
func updatingOr(edit simulation.Edit) func(*simulation.User, *rand.Rand) {
	return func(u *simulation.User, r *rand.Rand) {
		if r.IntN(2) == 0 {
			updateInTurn(u, r)
			return
		}
		u.Edit(edit(r))
	}
}

// only is the same edit each time.
func only(patch string) simulation.Edit { return func(*rand.Rand) string { return patch } }

var (
	// updatePart updates some of the pods.
	updatePart = updatingOr(only(`{"spec":{"updateStrategy":{"type":"RollingUpdate","partition":"40%","maxUnavailable":"100%",` +
		`"paused":false,"selector":null}}}`))
	// updateNone asks for updates, and for none.
	updateNone = updatingOr(only(`{"spec":{"updateStrategy":{"type":"NotUpdate"}}}`))
	// updateElsewhere updates pods of another namespace.
	updateElsewhere = updatingOr(simulation.Pick(`{"spec":{"namespace":%v}}`, "null", `"other"`))
)

// updateWith updates pods while one of some numbers may be unavailable.
func updateWith(maxUnavailable ...any) func(*simulation.User, *rand.Rand) {
	const strategy = `{"spec":{"updateStrategy":{"type":"RollingUpdate","partition":0,"maxUnavailable":%v,"paused":false,"selector":null}}}`
	return updatingOr(simulation.Pick(strategy, maxUnavailable...))
}

// updateBesideWorkload updates sidecars while the workload updates pods to an image that cannot be pulled.
func updateBesideWorkload(u *simulation.User, r *rand.Rand) {
	if pod := u.AnyPod(r); pod != nil && r.IntN(2) == 0 {
		updateInPlace(u, pod, "main:nopull", 0)
		return
	}
	u.Edit(`{"spec":{"updateStrategy":{"type":"RollingUpdate","partition":0,"maxUnavailable":"100%","paused":false,"selector":null}}}`)
	updateInTurn(u, r)
}

// injectVersions injects a version, and drops revisions early.
func injectVersions(u *simulation.User, r *rand.Rand) {
	switch r.IntN(3) {
	case 0:
		u.Edit(`{"metadata":{"labels":{"apps.kruise.io/sidecarset-custom-version":"v1"}},"spec":{"injectionStrategy":{"revision":{"customVersion":"v1","policy":"Always"}}}}`)
	case 1:
		u.Edit(`{"metadata":{"labels":{"apps.kruise.io/sidecarset-custom-version":null}},"spec":{"revisionHistoryLimit":1}}`)
	default:
		updateInTurn(u, r)
	}
}

// keepSilent drops a condition whose message has a text from the status, and the write if
// nothing else changes.
func keepSilent(of v1alpha1.SidecarSetConditionType, text string) func(*Snapshot, *Plan) {
	return func(s *Snapshot, p *Plan) {
		if p.Status == nil {
			return
		}
		p.Status.Conditions = slices.DeleteFunc(p.Status.Conditions, func(c v1alpha1.SidecarSetCondition) bool {
			return c.Type == of && strings.Contains(c.Message, text)
		})
		if statuses.Same(p.Status, &s.Set.Status) {
			p.Status = nil
		}
	}
}

// readyInReverse has a pod that is ready for long look as if it had become ready last.
func readyInReverse(s *Snapshot, pod *corev1.Pod) {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		c.LastTransitionTime = metav1.NewTime(s.Now.Add(s.Now.Sub(c.LastTransitionTime.Time)))
	}
}

// updateScattered updates a half of pods that are scattered by their label.
func updateScattered(u *simulation.User, r *rand.Rand) {
	pods := u.Pods()
	for i, pod := range pods {
		u.PatchPod(pod.Name, fmt.Sprintf(`{"metadata":{"labels":{"ring":%q}}}`, []string{"a", "b"}[2*i/len(pods)]))
	}
	u.Edit(`{"spec":{"updateStrategy":{"type":"RollingUpdate","maxUnavailable":"100%","partition":"50%","paused":false,"selector":null,"scatterStrategy":[{"key":"ring","value":"*"}]}}}`)
	editContainers(u, func(c *v1alpha1.SidecarContainer) { c.Image = fmt.Sprint(c.Name, ":", 1+r.IntN(9)) })
}
