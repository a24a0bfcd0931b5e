// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func newJob() *v1alpha1.BroadcastJob {
	return &v1alpha1.BroadcastJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid", Generation: 1},
		Spec: v1alpha1.BroadcastJobSpec{Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
			Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "busybox:1"}}},
		}},
	}
}

func newNode(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "uid-of-node"}}
}

// podOn is an active pod of the job.
func podOn(job *v1alpha1.BroadcastJob, node string) *corev1.Pod {
	p := &planner{Snapshot: &Snapshot{Job: job}}
	pod := p.newPodMaker().pod(node, "", map[string]bool{}).DeepCopy()
	pod.UID = "uid-of-pod"
	return pod
}

// place builds a snapshot of a job, and of nodes with their pods in this notation:
// "n1 n2:active n3:Succeeded". A node that is not there is in parentheses. "n*3:active" are the nodes n-00 to n-02, whose pods have
// their names.
// What follows a plus says more about the pod: leaving, late=2m, direct or restarts=3.
func place(t testing.TB, job *v1alpha1.BroadcastJob, text string) *Snapshot {
	t.Helper()
	s := &Snapshot{Job: job, Now: noon}
	seen := map[string]bool{}
	for word := range strings.FieldsSeq(repeated(text)) {
		gone := strings.HasPrefix(word, "(")
		name, state, hasPod := strings.Cut(strings.Trim(word, "()"), ":")
		if !gone && !seen[name] {
			seen[name] = true
			node := newNode(name)
			if strings.HasPrefix(name, "cordoned") {
				node.Spec.Unschedulable = true
			}
			if strings.HasPrefix(name, "rejoined") { // later than all pods
				node.CreationTimestamp.Time = noon
			}
			s.Nodes = append(s.Nodes, node)
		}
		if !hasPod {
			continue
		}
		pod := podOn(job, name)
		pod.UID = types.UID(fmt.Sprint("uid-of-pod-", len(s.Pods)))
		for i, part := range strings.Split(state, "+") {
			alter(t, pod, i, part, name)
		}
		s.Pods = append(s.Pods, pod)
	}
	return s
}

// repeated writes out words of several nodes.
func repeated(text string) string {
	return severalNodes.ReplaceAllStringFunc(text, func(word string) (all string) {
		parts := severalNodes.FindStringSubmatch(word)
		n, _ := strconv.Atoi(parts[2])
		for i := range n {
			name := fmt.Sprintf("%s-%02d", parts[1], i)
			all += name + ":" + parts[3] + "+name=" + name + " "
		}
		return all
	})
}

var severalNodes = regexp.MustCompile(`(\S+)\*(\d+):(\S+)`)

func alter(t testing.TB, pod *corev1.Pod, i int, part, node string) {
	t.Helper()
	switch key, value, _ := strings.Cut(part, "="); {
	case i == 0 && part != "active":
		pod.Status.Phase = corev1.PodPhase(part)
	case i == 0:
		pod.Status.Phase = corev1.PodRunning
	case key == "leaving":
		pod.DeletionTimestamp = &metav1.Time{Time: noon}
	case key == "late":
		d, err := time.ParseDuration(value)
		if err != nil {
			t.Fatal(err)
		}
		pod.DeletionTimestamp = &metav1.Time{Time: noon.Add(-d)}
	case key == "direct":
		pod.Spec.Affinity, pod.Spec.NodeName = nil, node
	case key == "restarts":
		pod.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		n := int32(intstr.Parse(value).IntVal)
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{RestartCount: n / 2}}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: n - n/2}}
	case key == "young": // as old as a node that rejoined
		pod.CreationTimestamp.Time = noon
	case key == "name":
		pod.Name = value
	case key == "stranger":
		pod.OwnerReferences[0].UID = "another"
	case key == "unlabelled":
		delete(pod.Labels, v1alpha1.BroadcastJobNameLabel)
	default:
		t.Fatalf("unknown %q", part)
	}
}

// show shows what a plan does, in a line.
func show(plan *Plan) string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, d := range plan.Delete {
		add("-%s", scheduler.NodeOf(d.Pod))
	}
	for _, c := range plan.Create {
		if node := nodefit.PinnedTo(&c.Pod.Spec); node != "" {
			add("+%s", node)
		} else {
			add("+%s directly", c.Pod.Spec.NodeName)
		}
	}
	if s := plan.Status; s != nil {
		add("%s desired=%d active=%d succeeded=%d failed=%d", s.Phase, s.Desired, s.Active, s.Succeeded, s.Failed)
	}
	for _, e := range plan.Events {
		add("%q", e.Reason)
	}
	if plan.DeleteJob {
		add("delete the job")
	}
	if plan.RequeueAfter > 0 {
		add("again in %s", plan.RequeueAfter)
	}
	return strings.Join(out, " ")
}

// jobOf returns a job with these lines of YAML in it.
func jobOf(t testing.TB, text string) *v1alpha1.BroadcastJob {
	t.Helper()
	job := newJob()
	if err := yaml.UnmarshalStrict([]byte(text), job); err != nil {
		t.Fatal(err)
	}
	return job
}
