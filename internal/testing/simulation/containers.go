// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"cmp"
	"context"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// ailment is what ails a pod for a while: it is not ready, or one of its containers.
type ailment struct {
	until     time.Time
	container string // empty: all
}

// ailment says what ails a pod until a moment.
func (h *history) ailment(pod *corev1.Pod, until time.Time, r *rand.Rand) ailment {
	if !h.workload.ByContainer || r.IntN(3) == 0 {
		return ailment{until: until}
	}
	return ailment{until, pod.Spec.Containers[r.IntN(len(pod.Spec.Containers))].Name}
}

func (h *history) ails(pod *corev1.Pod) bool { return time.Now().Before(h.sick[pod.UID].until) }

// visitContainer has kubelets come to one container of a pod alone, or to all again.
func (h *history) visitContainer(pod *corev1.Pod, r *rand.Rand) {
	h.visited = ""
	if h.workload.ByContainer && pod != nil && r.IntN(2) == 0 {
		h.visited = pod.Spec.Containers[r.IntN(len(pod.Spec.Containers))].Name
	}
}

// inContainer names the container that kubelets act for.
func (h *history) inContainer(pod *corev1.Pod) (text string) {
	if h.visited != "" {
		text = " in container " + h.visited
	}
	if ailing := h.sick[pod.UID].container; h.ails(pod) && ailing != "" {
		text += ", of which container " + ailing + " ails"
	}
	return text
}

func (h *history) setKubelet(pod *corev1.Pod, works bool) {
	k, ailing, visited := h.kubelet, "", h.visited
	if h.ails(pod) {
		ailing = h.sick[pod.UID].container
	}
	k.Clock = h.clockOf(pod)
	k.Broken = func(image string) bool { return !works && ailing == "" || strings.Contains(image, "bad") }
	if h.workload.Resizes {
		k.Resize = func(pod *corev1.Pod) string { return resizes(pod, works) }
	}
	if h.workload.ByContainer {
		k.Unready = func(container string) bool { return container == ailing }
		k.Unpullable = func(image string) bool { return strings.Contains(image, "nopull") }
		k.Leaves = func(container string) bool { return visited != "" && container != visited }
	}
}

// askProbes has kubelets ask the startup probes whose turn has come, whatever else they are late with.
func (h *history) askProbes() {
	if !h.workload.StartupProbes {
		return
	}
	for _, pod := range h.podList() {
		if h.isDead(pod) {
			continue
		}
		h.setKubelet(pod, !h.ails(pod))
		changes, err := h.kubelet.Ask(context.Background(), pod)
		h.must(err)
		if changes {
			h.say("kubelet: asks the startup probes of pod %s", pod.Name)
		}
	}
	h.settle()
}

// resizes says how far a node comes with the resize of a pod: one of four is on a full node.
func resizes(pod *corev1.Pod, works bool) string {
	sum := fnv.New32a()
	sum.Write([]byte(pod.UID))
	switch {
	case sum.Sum32()%4 == 0:
		return corev1.PodReasonDeferred
	case !works:
		return fakecluster.ResizeInProgress
	}
	return ""
}

func (h *history) actOthers(r *rand.Rand) {
	h.workload.Others(&User{history: h, kind: h.kinds[0], name: "other"}, r)
	h.settle()
}

// Clocks of kubelets: those of one history in so many are wrong, each by so much, forward or back.
const (
	wrongOneIn = 4
	wrongBy    = 10 * time.Minute
)

// wrong is a clock that is ahead by a time, or behind.
type wrong struct {
	clock.RealClock
	by time.Duration
}

// Now returns what the clock shows.
func (w wrong) Now() time.Time { return w.RealClock.Now().Add(w.by) }

// clockOf is the clock of the kubelet of a pod. If the kind is not about nodes, each pod has a kubelet of its own. In histories with
// startup probes all clocks are right, since only the kubelet's clock tells when it has probed. (IP-45)
func (h *history) clockOf(pod *corev1.Pod) clock.PassiveClock {
	if h.workload.StartupProbes {
		return clock.RealClock{}
	}
	if rand.New(rand.NewPCG(h.seed, 1<<36)).IntN(wrongOneIn) > 0 {
		return clock.RealClock{}
	}
	kubelet := string(pod.UID)
	if h.hasNodes() {
		kubelet = cmp.Or(pod.Spec.NodeName, h.schedule(pod))
	}
	sum := fnv.New32a()
	sum.Write([]byte(kubelet))
	return wrong{by: wrongBy * (time.Duration(sum.Sum32()%3) - 1)}
}

// startupEdits give a template two containers with startup probes, and images to one or both.
var startupEdits = func() (edits []Edit) {
	const containers = `{"spec":{"template":{"spec":{"containers":[` +
		`{"name":"main","image":"nginx:%v","startupProbe":{"exec":{"command":["up"]},"periodSeconds":10}},` +
		`{"name":"log","image":"log:VERSION","startupProbe":{"exec":{"command":["up"]},"periodSeconds":30}}]}}}}`
	for _, version := range []string{"1", "2", "3"} {
		edits = append(edits, Pick(strings.Replace(containers, "VERSION", version, 1), 1, 2, 3))
	}
	return edits
}()

// Starting is the workload with containers that have startup probes: in the beginning, and after every other edit. With inPlace, a
// merge patch, its pods are updated in place. (IP-45)
func Starting(w *Subject, inPlace string) *Subject {
	starting := *w
	starting.StartupProbes = true
	starting.Create = func(r *rand.Rand) Object {
		object := w.Create(r)
		Merge(object, AnyEdit(r, startupEdits))
		Merge(object, inPlace)
		return object
	}
	starting.Act = func(u *User, r *rand.Rand) {
		switch n := r.IntN(8); {
		case n == 0:
			u.Edit(inPlace)
		case n < 4:
			u.Edit(AnyEdit(r, startupEdits))
		default:
			w.Act(u, r)
		}
	}
	starting.Push = func(u *User) {
		w.Push(u) // it may take the probes away, of which running pods get nothing
		u.Edit(inPlace)
	}
	return &starting
}

// Believing returns copies of pods that tell of no restart, so that their readers believe at once that containers have started.
func Believing(pods []*corev1.Pod) []*corev1.Pod {
	believing := make([]*corev1.Pod, len(pods))
	for i, pod := range pods {
		believing[i] = pod.DeepCopy()
		status := &believing[i].Status
		for _, all := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses} {
			for j := range all {
				all[j].LastTerminationState.Terminated = nil
			}
		}
	}
	return believing
}
