// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// jobScenario is a cluster of one BroadcastJob, which applies plans at once.
type jobScenario struct {
	testing.TB
	job   *v1alpha1.BroadcastJob
	nodes []*corev1.Node
	pods  []*corev1.Pod
	now   time.Time
	uids  int
	gone  bool // the job
}

func newScenario(t testing.TB) *jobScenario {
	return &jobScenario{TB: t, job: newJob(), now: noon}
}

// snapshot shares nothing with the scenario.
func (w *jobScenario) snapshot() *Snapshot {
	s := &Snapshot{Job: w.job.DeepCopy(), Now: w.now}
	for _, pod := range w.pods {
		s.Pods = append(s.Pods, pod.DeepCopy())
	}
	for _, node := range w.nodes {
		s.Nodes = append(s.Nodes, node.DeepCopy())
	}
	return s
}

// apply does to the cluster what a plan says.
func (w *jobScenario) apply(plan *Plan) {
	for _, d := range plan.Delete {
		w.deletePod(d.Pod.Name)
	}
	for _, c := range plan.Create {
		pod := c.Pod.DeepCopy()
		w.uids++
		pod.UID, pod.Status.Phase = types.UID(fmt.Sprint("pod-", w.uids)), corev1.PodPending
		w.pods = append(w.pods, pod)
	}
	if plan.Status != nil {
		w.job.Status = *plan.Status.DeepCopy()
	}
	w.gone = w.gone || plan.DeleteJob
}

// deletePod deletes a pod as the API server does: one that has finished is gone at once.
func (w *jobScenario) deletePod(name string) {
	i := slices.IndexFunc(w.pods, func(p *corev1.Pod) bool { return p.Name == name })
	if pod := w.pods[i]; pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || pod.Spec.NodeName == "" {
		w.pods = slices.Delete(w.pods, i, i+1)
	} else {
		pod.DeletionTimestamp = &metav1.Time{Time: w.now}
	}
}

// podOf returns the pod of a node, nil if there is none.
func (w *jobScenario) podOf(node string) *corev1.Pod {
	for _, pod := range w.pods {
		if scheduler.NodeOf(pod) == node {
			return pod
		}
	}
	return nil
}

// kubelets bind and start pods, and end those that are being deleted.
func (w *jobScenario) kubelets() {
	w.pods = slices.DeleteFunc(w.pods, func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
	for _, pod := range w.pods {
		if pod.Spec.NodeName == "" && w.node(scheduler.NodeOf(pod)) != nil {
			pod.Spec.NodeName = scheduler.NodeOf(pod)
		}
		if pod.Spec.NodeName != "" && pod.Status.Phase == corev1.PodPending {
			pod.Status.Phase = corev1.PodRunning
		}
	}
}

// end ends the pod of a node if it runs.
func (w *jobScenario) end(node string, phase corev1.PodPhase) {
	if pod := w.podOf(node); pod != nil && pod.Status.Phase == corev1.PodRunning {
		pod.Status.Phase = phase
	}
}

func (w *jobScenario) node(name string) *corev1.Node {
	i := slices.IndexFunc(w.nodes, func(n *corev1.Node) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return w.nodes[i]
}

func (w *jobScenario) addNode(name string) {
	if w.node(name) == nil {
		w.nodes = append(w.nodes, newNode(name))
	}
}

func (w *jobScenario) removeNode(name string) {
	w.nodes = slices.DeleteFunc(w.nodes, func(n *corev1.Node) bool { return n.Name == name })
}

// spec changes the spec, by lines of YAML.
func (w *jobScenario) spec(lines string) {
	if err := yaml.UnmarshalStrict([]byte(lines), &w.job.Spec); err != nil {
		w.Fatal(err)
	}
	w.job.Generation++
}

// TestScripts plays the jobs in testdata, each in a cluster of its own, and compares
// every plan. To accept a change of behaviour, run the test with -rewrite and read the
// difference.
//
//	spec                lines of YAML that change the spec
//	nodes, gone, cordon, uncordon names…
//	reconcile           plans and applies the plan; kubelets start and end pods
//	succeed, fail, delete nodes…   what becomes of the pods there
//	clock duration      lets time pass
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		w := newScenario(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var names []string
			for _, arg := range d.CmdArgs {
				names = append(names, arg.Key)
			}
			return w.command(d.Cmd, names, d.Input)
		})
	})
}

func (w *jobScenario) command(command string, names []string, input string) string {
	switch command {
	case "spec":
		w.spec(input)
		return ""
	case "reconcile":
		plan := NewPlan(w.snapshot())
		w.apply(plan)
		w.kubelets()
		lines := []string{show(plan)}
		for _, wait := range plan.Waiting {
			lines = append(lines, "  wait "+wait.Name+": "+wait.Reason.String())
		}
		for _, d := range plan.Delete {
			lines = append(lines, "  delete the pod of "+scheduler.NodeOf(d.Pod)+": "+d.Reason)
		}
		return strings.Join(lines, "\n")
	case "clock":
		d, err := time.ParseDuration(names[0])
		if err != nil {
			w.Fatal(err)
		}
		w.now = w.now.Add(d)
		return ""
	}
	for _, name := range names {
		switch command {
		case "nodes":
			w.addNode(name)
		case "gone":
			w.removeNode(name)
		case "cordon", "uncordon":
			w.node(name).Spec.Unschedulable = command == "cordon"
		case "succeed":
			w.end(name, corev1.PodSucceeded)
		case "fail":
			w.end(name, corev1.PodFailed)
		case "delete":
			w.deletePod(w.podOf(name).Name)
		default:
			w.Fatalf("unknown command %s", strconv.Quote(command))
		}
	}
	return ""
}
