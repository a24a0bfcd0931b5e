// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

var (
	noon  = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	words = patches.Read("testdata/words.yaml", noon)
)

func newJob() *v1alpha1.BroadcastJob { return patches.Changed(words, &v1alpha1.BroadcastJob{}, "web") }

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
// their names. Nodes whose names begin with a word of nodes are so. What follows a plus says more about the pod: these words stand in
// testdata/words.yaml.
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
			for _, word := range []string{"cordoned", "tainted", "rejoined"} {
				if strings.HasPrefix(name, word) {
					node = patches.Changed(words, node, word)
				}
			}
			s.Nodes = append(s.Nodes, node)
		}
		if !hasPod {
			continue
		}
		pod := podOn(job, name)
		pod.UID = types.UID(fmt.Sprint("uid-of-pod-", len(s.Pods)))
		phase, more, _ := strings.Cut(state, "+")
		said := append([]string{"phase=" + phase}, strings.FieldsFunc(more, func(r rune) bool { return r == '+' })...)
		for i, word := range said {
			if word == "direct" {
				said[i] += "=" + name
			}
		}
		s.Pods = append(s.Pods, patches.Changed(words, pod, said...))
	}
	return s
}

// placeOf is what place builds of the lines of a command.
func placeOf(t testing.TB, d *datadriven.TestData) *Snapshot {
	t.Helper()
	cluster, job, _ := strings.Cut(d.Input, "\n")
	return place(t, jobOf(t, job), strings.TrimPrefix(cluster, "none"))
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
