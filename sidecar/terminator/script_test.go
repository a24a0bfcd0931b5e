// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// TestScripts plays the scenarios of testdata/scripts, each in a cluster of its own.
// Shown are the writes of the controller, its events (ST-18), and then the pod. To accept a
// change of behaviour, run the test with -rewrite and read the difference.
//
//	create [codes=(0,137)]  creates the pod that follows, as podOf reads it; the codes are what its
//	                        sidecars exit with when they are stopped
//	exit main 0             ends a container
//	work 5s                 lets kubelet and agent work so long
//	no-agent                has no agent serve requests any more
//	unpulled exit:1         has the node fail to pull an image
//	late 10s                has the kubelet learn so late of what others write
//	delete-request          deletes the request
//	kubelet                 has the kubelet make one step
//	phase Running           has it write a phase over the one that was given
//	refuse what             has the API server refuse requests, such as "patch pods"; "refuse-ended" and "refuse-terminating" say that
//	                        the pod has ended, or that the namespace is being deleted
//	lose what               has it lose the answers to them
//	heal                    has it serve them again
//	stop, start             stops the controller, and starts another one; "start leave-phase" leaves the phase to kubelets
//	node-goes, node-comes   has the cluster not know the node of the pod, and know it
//	metrics                 shows how long pods took to end
//	pass 10s                lets time pass, in which neither kubelet nor agent works
//	requests                shows what the controller has sent since this was asked, and whether it has reconciled
//	settled                 the same of ten minutes of heartbeats, after ten more
//	kubelet-first           has the kubelet fail the pod in the moment in which the controller writes a phase
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		inCluster(t, func(t *testing.T, c *cluster) {
			w := &world{cluster: c}
			w.heal()
			w.reconciles, w.stop = c.start(w)
			defer func() { w.stop() }()
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return w.run(t, d) })
		})
	})
}

// world is a cluster with a controller, whose writes are noted.
type world struct {
	*cluster
	lock  sync.Mutex
	trace []string
	took  []time.Duration
	stop  func() // the controller

	reconciles *fixture.Reconciles
	counted    int // of them
}

// Ended is PodMetrics.
func (w *world) Ended(took time.Duration) { w.took = append(w.took, took) }

func (w *world) note(format string, args ...any) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

func (w *world) heal() {
	w.FailBefore(nil)
	w.lose(func(fakecluster.Request) error { return nil })
}

// lose loses answers to the writes that are noted.
func (w *world) lose(lost func(fakecluster.Request) error) {
	w.FailAfter(func(r fakecluster.Request) error {
		if r.User == fixture.ControllerUser && !slices.Contains([]string{"get", "list", "watch"}, r.Verb) {
			w.note("%s", r.String())
		}
		return lost(r)
	})
}

var errBudget = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web", fmt.Errorf("the budget allows no update"))

func (w *world) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	var words []string
	for _, argument := range d.CmdArgs {
		words = append(words, argument.String())
	}
	switch d.Cmd {
	case "create":
		var codes []string
		for _, argument := range d.CmdArgs {
			codes = argument.Vals
		}
		w.create("web", strings.TrimSpace(d.Input), codes...)
	case "exit":
		var code int32
		if _, err := fmt.Sscan(words[1], &code); err != nil {
			return err.Error()
		}
		w.exit("web", words[0], code)
	case "work":
		period, err := time.ParseDuration(words[0])
		if err != nil {
			return err.Error()
		}
		w.work(period)
	case "no-agent":
		w.noAgent = true
	case "unpulled":
		w.unpulled = words[0]
	case "late":
		late, err := time.ParseDuration(words[0])
		if err != nil {
			return err.Error()
		}
		w.late = late
	case "delete-request":
		w.Must(w.requests.Delete(t.Context(), RequestName(w.pod("web").UID), metav1.DeleteOptions{}))
	case "metrics":
		return fmt.Sprint(w.took)
	case "pass":
		w.Sleep(words[0])
	case "settled":
		w.Sleep("10m")
		w.sent()
		for i := range 10 {
			w.Heartbeat(i)
			w.Sleep("1m")
		}
		return w.sent()
	case "requests":
		return w.sent()
	default:
		if !w.disturb(t, d.Cmd, words) {
			return "no command " + d.Cmd
		}
	}
	w.Sleep("100ms")
	w.lock.Lock()
	defer w.lock.Unlock()
	out := append(w.trace, slices.Compact(w.Events.All())...) // retries, however many
	out = append(out, "pod: "+w.show("web"))
	if written := w.pod("web").Annotations[v1alpha1.SidecarPhaseWrittenAnnotation]; written != "" {
		out = append(out, "the phase was written at "+written)
	}
	if given := phaseGiven(w.pod("web")); given != nil {
		out = append(out, fmt.Sprintf("%s: %s", given.Type, given.Message))
	}
	if learned(w.pod("web")) {
		out = append(out, "the kubelet knows")
	}
	w.trace = nil
	w.Events.Forget()
	return strings.Join(out, "\n")
}

// sent is what the controller has sent since this was asked, and whether it has reconciled.
func (w *world) sent() string {
	defer w.ForgetRequests()
	before := w.counted
	if w.counted = w.reconciles.Count(); w.counted == before {
		return fmt.Sprint(w.Sent(), ", and no reconcile")
	}
	return fmt.Sprint(w.Sent(), ", and reconciles")
}

// disturb is what happens to controller, kubelet, API server and node. It tells whether it knows the command.
func (w *world) disturb(t *testing.T, command string, words []string) (known bool) {
	t.Helper()
	what := strings.Join(words, " ")
	switch command {
	case "kubelet":
		w.kubelet()
	case "phase":
		w.write("web", func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodPhase(what) })
	case "refuse":
		w.FailBefore(fixture.Fail(what, errBudget))
	case "kubelet-first":
		w.FailBefore(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && r.String() == "patch pods/status" && w.pod("web").Status.Phase == corev1.PodRunning {
				pod := w.pod("web")
				end(&pod.Status.ContainerStatuses[1], 137)
				pod.Status.Phase = corev1.PodFailed
				_, err := w.Kube.CoreV1().Pods(pod.Namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
				w.Must(err)
			}
			return nil
		})
	case "refuse-ended":
		w.FailBefore(fixture.Fail(what, apierrors.NewBadRequest("the pod has ended")))
	case "refuse-terminating":
		terminating := apierrors.NewForbidden(lifecyclev1alpha1.Resource("containerrecreaterequests"), "", nil)
		terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
		w.FailBefore(fixture.Fail(what, terminating))
	case "lose":
		w.lose(fixture.Fail(what, fixture.ErrLost))
	case "heal":
		w.heal()
	case "stop":
		w.stop()
		w.stop = func() {}
	case "start":
		w.stop()
		w.leavePhase = what == "leave-phase"
		w.reconciles, w.stop = w.start(w)
	case "node-goes":
		w.Must(w.Kube.CoreV1().Nodes().Delete(t.Context(), "real", metav1.DeleteOptions{}))
	case "node-comes":
		_, err := w.Kube.CoreV1().Nodes().Create(t.Context(), nodes["real"].DeepCopy(), metav1.CreateOptions{})
		w.Must(err)
	default:
		return false
	}
	return true
}
