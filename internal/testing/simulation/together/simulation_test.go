// SPDX-License-Identifier: Apache-2.0

package together

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/transport"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
	"github.com/podwright/podwright/workloads/cloneset"
)

// TestSimulation has users change a CloneSet and a SidecarSet of the same pods at random, amid everything that can go
// wrong. It judges each write of both controllers.
func TestSimulation(t *testing.T) {
	simulation.Check(t, simulated(bug{}))
}

// TestSimulationReplays plays a seed twice: not a line of the history may differ.
// A shorter one is the beginning of a longer one.
func TestSimulationReplays(t *testing.T) {
	simulation.CheckReplay(t, simulated(bug{}), 1)
}

// simulated is what a simulation needs to know of CloneSets and SidecarSets, whose
// controllers have a bug.
func simulated(bug bug) *simulation.Subject {
	w := cloneSets(bug.cloneSets)
	w.ByContainer, w.Others = true, actOnBoth
	w.Beside = []*simulation.Subject{sidecarSets(bug.sidecarSets)}
	return w
}

// injecting injects into the pods that a process creates what the SidecarSets in its
// caches have for them, as the webhook does.
func injecting(p *simulation.Process) transport.WrapperFunc {
	creates := func(r *http.Request) bool {
		return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/pods")
	}
	return simulation.ChangeBodies(creates, func(body []byte) ([]byte, error) {
		pod := &corev1.Pod{}
		if err := json.Unmarshal(body, pod); err != nil {
			return nil, err
		}
		result, err := injection.Inject(injection.Input{Pod: pod, Now: time.Now(),
			SidecarSets: list[*v1alpha1.SidecarSet](p.Informer("sidecarsets")), Revisions: list[*appsv1.ControllerRevision](p.Informer("controllerrevisions"))})
		if err != nil {
			return nil, err
		}
		return json.Marshal(result.Pod)
	})
}

func list[T simulation.Object](informer cache.SharedIndexInformer) (objects []T) {
	for _, object := range informer.GetStore().List() {
		objects = append(objects, object.(T))
	}
	slices.SortFunc(objects, func(a, b T) int { return strings.Compare(a.GetName(), b.GetName()) })
	return objects
}

// actOnBoth is what users do to pods of both kinds: they have containers recreated, and push
// images in the midst of other updates.
func actOnBoth(u *simulation.User, r *rand.Rand) {
	switch n := r.IntN(3); {
	case n == 0:
		recreateContainer(u, r)
	case u.Workload() != nil:
		u.Edit(newImage(r))
	}
}

// recreateContainer has a container of a pod recreated, as a ContainerRecreateRequest does. The node agent stops it,
// and the kubelet starts another one from the spec.
func recreateContainer(u *simulation.User, r *rand.Rand) {
	pod := u.AnyPod(r)
	if pod == nil || pod.DeletionTimestamp != nil || len(pod.Status.ContainerStatuses) == 0 {
		return
	}
	after := pod.DeepCopy()
	s := &after.Status.ContainerStatuses[r.IntN(len(after.Status.ContainerStatuses))]
	i := slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == s.Name })
	if i < 0 || s.ContainerID == "" || strings.Contains(pod.Spec.Containers[i].Image, "nopull") {
		return
	}
	s.RestartCount++
	s.ContainerID = fmt.Sprintf("fakecluster://%s-%s-%d", pod.UID, s.Name, s.RestartCount)
	s.Image, s.Ready, s.State = pod.Spec.Containers[i].Image, false, corev1.ContainerState{}
	s.ImageID = "sha256:" + s.Image
	for i := range after.Status.Conditions {
		if c := &after.Status.Conditions[i]; c.Type == corev1.ContainersReady || c.Type == corev1.PodReady {
			c.Status = corev1.ConditionFalse
		}
	}
	u.UpdatePod("recreates container "+s.Name, after)
}

// TestSimulationRegressions plays histories in which bugs were found.
func TestSimulationRegressions(t *testing.T) {
	simulation.Replay(t, []simulation.Regression{
		{Found: "another image in service, where an update in its grace period had followed an unfinished one", Seed: 1882671572584381, Workload: simulated(bug{})},
	})
}

// bug is one of one controller or the other.
type bug struct {
	cloneSets   simulation.Spoil[cloneset.Options, cloneset.Reconciler]
	sidecarSets simulation.Spoil[sidecarset.Options, sidecarset.Reconciler]
}

// cloneSetSees changes copies of pods that the controller of CloneSets reads, and sidecarSetSees those that the other one reads.
func cloneSetSees(spoil func(*corev1.Pod)) bug {
	each := planted.EachPod[cloneset.Snapshot](spoil)
	return bug{cloneSets: planted.Misread[cloneset.Options, cloneset.Snapshot, cloneset.Plan](each)}
}

func sidecarSetSees(spoil func(*corev1.Pod)) bug {
	each := planted.EachPod[sidecarset.Snapshot](spoil)
	return bug{sidecarSets: planted.Misread[sidecarset.Options, sidecarset.Snapshot, sidecarset.Plan](each)}
}

// cloneSetWrites changes what the controller of CloneSets writes.
func cloneSetWrites(spoil func(http.RoundTripper) http.RoundTripper) bug {
	return bug{cloneSets: simulation.OnWire[cloneset.Options, cloneset.Reconciler](spoil)}
}

// TestSimulationFindsBugs plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugs(t *testing.T) {
	plant := simulation.Plant(t, simulated)
	plant("the update of the sidecar is not waited for", invariants.Exclusive, 1, cloneSetSees(func(pod *corev1.Pod) {
		delete(pod.Annotations, v1alpha1.SidecarSetInPlaceUpdateStateAnnotation)
	}))
	plant("the update of the sidecar is waited for for ever", invariants.Settled, 6, cloneSetSees(func(pod *corev1.Pod) {
		var records map[string]v1alpha1.SidecarSetUpgradeRecord
		if json.Unmarshal([]byte(pod.Annotations[v1alpha1.SidecarSetHashAnnotation]), &records) != nil {
			return
		}
		for set, record := range records {
			record.UpdateTimestamp = metav1.NewTime(time.Now())
			records[set] = record
		}
		data, err := json.Marshal(records)
		if err != nil {
			panic(err)
		}
		pod.Annotations[v1alpha1.SidecarSetHashAnnotation] = string(data)
	}))
	plant("an update begins on a pod that has changed since it was read", invariants.Exclusive, 3,
		cloneSetWrites(simulation.Forgetting(http.MethodPatch, "pods", "metadata", "resourceVersion")))
	plant("another container's restart completes the update", invariants.InPlace, 11, cloneSetSees(func(pod *corev1.Pod) {
		restarted := slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name != "main" && s.RestartCount > 0 })
		for i := range pod.Status.ContainerStatuses {
			if s := &pod.Status.ContainerStatuses[i]; s.Name == "main" && restarted {
				s.Image = imageOf(pod, s.Name)
				s.ImageID = "sha256:" + s.Image
			}
		}
	}))
	plant("annotations of the SidecarSet are dropped", invariants.InPlace, 0,
		cloneSetWrites(simulation.SpoilBodies(http.MethodPatch, "pods", func(body map[string]any) {
			if metadata, ok := body["metadata"].(map[string]any); ok && metadata["annotations"] != nil {
				metadata["annotations"].(map[string]any)[v1alpha1.SidecarSetInPlaceUpdateStateAnnotation] = nil
			}
		})))
	plant("the update of the workload is not waited for", invariants.Exclusive, 2, sidecarSetSees(func(pod *corev1.Pod) {
		delete(pod.Annotations, inplacev1alpha1.StateAnnotation)
		openGate(pod)
	}))
}

// openGate has a pod look as if no update kept it out of service.
func openGate(pod *corev1.Pod) {
	if gate := readiness.Condition(pod, inplacev1alpha1.InPlaceUpdateReady); gate != nil {
		*gate = corev1.PodCondition{Type: gate.Type, Status: corev1.ConditionTrue, LastTransitionTime: gate.LastTransitionTime}
	}
}

func imageOf(pod *corev1.Pod, name string) string {
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == name {
			return pod.Spec.Containers[i].Image
		}
	}
	return ""
}
