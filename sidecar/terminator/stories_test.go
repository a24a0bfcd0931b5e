// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// TestStories plays the stories in testdata: see fixture.PlayStories. Most commands of pods and nodes show the writes of the controller, its
// events (ST-18), and then the pod web, as "state" does. The option LeavePhase leaves the phase to kubelets.
//
//	pod OnFailure main: a=r: codes=(0,137)
//	                        creates the pod, as podOf reads it; the codes are what its sidecars exit with when they are stopped
//	exit main 0             ends a container
//	work 5s                 lets kubelet and agent work so long
//	look                    has the kubelet make one step
//	no-agent                has no agent serve requests any more
//	unpulled exit:1         has the node fail to pull an image
//	late 10s                has the kubelet learn so late of what others write
//	delete-request          deletes the request
//	kubelet-first           has the kubelet fail the pod in the moment in which the controller writes a phase
//	refuse-ended            has the API server refuse requests, because the pod has ended
//	metrics                 shows how long pods took to end
//	cost                    shows what the controller has sent since this was asked, and whether it has reconciled
//	heartbeats              has kubelets write what they do all the time
func TestStories(t *testing.T) {
	fixture.PlayStories(t, "testdata/stories", requestResource, func(f *fixture.Cluster) *fixture.Story {
		w := &world{cluster: newCluster(f)}
		w.Options.PodMetrics = w
		w.Of.New = func(o Options) (Controller, error) {
			controller, err := New(o)
			w.Must(err)
			w.Reconcile = controller.Reconcile
			return controller, nil
		}
		w.createNodes()
		shown := func(act func(words []string)) func(...string) string {
			return func(words ...string) string {
				act(words)
				return w.state()
			}
		}
		return &fixture.Story{
			Stable: true, Restart: func() {}, Option: w.Option,
			Node:  func(name string) *corev1.Node { return nodes[name].DeepCopy() },
			Start: func() (*fixture.Reconciles, func()) { return w.Run() },
			Further: map[string]func(...string) string{
				"state": shown(func([]string) {}),
				"pod": shown(func(words []string) {
					text, codes, _ := strings.Cut(strings.Join(words, " "), " codes=")
					w.create("web", text, strings.FieldsFunc(codes, func(r rune) bool { return strings.ContainsRune("(, )", r) })...)
				}),
				"exit": shown(func(words []string) {
					w.exit("web", words[0], int32(patches.Number(f.T, words[1])))
				}),
				"work":     shown(func(words []string) { w.work(patches.Duration(f.T, words[0])) }),
				"look":     shown(func([]string) { w.kubelet() }),
				"no-agent": shown(func([]string) { w.noAgent = true }),
				"unpulled": shown(func(words []string) { w.unpulled = words[0] }),
				"late":     shown(func(words []string) { w.late = patches.Duration(f.T, words[0]) }),
				"delete-request": shown(func([]string) {
					w.Must(w.requests.Delete(f.T.Context(), RequestName(w.pod("web").UID), metav1.DeleteOptions{}))
				}),
				"kubelet-first": shown(func([]string) { w.FailBefore(w.failFirst) }),
				"refuse-ended": shown(func([]string) {
					w.FailBefore(fixture.Fail("create containerrecreaterequests", apierrors.NewBadRequest("the pod has ended")))
				}),
				"metrics":    func(...string) string { return fmt.Sprintln(w.took) },
				"cost":       func(...string) string { return w.cost() },
				"heartbeats": func(...string) string { w.Heartbeats(); return "" },
			}}
	})
}

// world is a cluster with a controller, whose writes are shown.
type world struct {
	*cluster
	took    []time.Duration
	counted int // reconciles
	known   int // requests that were shown
}

// Ended is PodMetrics.
func (w *world) Ended(took time.Duration) { w.took = append(w.took, took) }

// state shows what the controller has written since it was shown, and the pod.
func (w *world) state() string {
	w.Sleep("100ms")
	var out []string
	requests := w.Requests(fixture.ControllerUser)
	for _, r := range requests[min(w.known, len(requests)):] {
		if !slices.Contains([]string{"get", "list", "watch"}, r.Verb) {
			out = append(out, r.String())
		}
	}
	w.known = len(requests)
	out = slices.Compact(append(out, w.Events.All()...)) // retries, however many
	w.Events.Forget()
	pod := w.pod("web")
	out = append(out, "pod: "+w.show("web"))
	if written := pod.Annotations[v1alpha1.SidecarPhaseWrittenAnnotation]; written != "" {
		out = append(out, "the phase was written at "+written)
	}
	if given := phaseGiven(pod); given != nil {
		out = append(out, fmt.Sprintf("%s: %s", given.Type, given.Message))
	}
	if learned(pod) {
		out = append(out, "the kubelet knows")
	}
	return strings.Join(out, "\n") + "\n"
}

// cost is what the controller has sent since this was asked, and whether it has reconciled.
func (w *world) cost() string {
	defer w.ForgetRequests()
	w.known = 0
	before := w.counted
	if w.counted = w.Reconciles.Count(); w.counted == before {
		return fmt.Sprintf("%v, and no reconcile\n", w.Sent())
	}
	return fmt.Sprintf("%v, and reconciles\n", w.Sent())
}

// failFirst has the kubelet fail the pod just before the controller writes a phase.
func (w *world) failFirst(r fakecluster.Request) error {
	if r.User != fixture.ControllerUser || r.String() != "patch pods/status" {
		return nil
	}
	if pod := w.pod("web"); pod.Status.Phase == corev1.PodRunning {
		end(&pod.Status.ContainerStatuses[1], 137)
		pod.Status.Phase = corev1.PodFailed
		_, err := w.Kube.CoreV1().Pods(pod.Namespace).UpdateStatus(w.T.Context(), pod, metav1.UpdateOptions{})
		w.Must(err)
	}
	return nil
}
