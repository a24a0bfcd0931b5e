// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	diff "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// TestPlans shows what is planned for the job pull of nginx:1 at noon. To accept a change of behaviour, run the test with -rewrite and
// read the difference.
//
//	plan NODE=WORD ...   plans for the job whose spec follows, and then perhaps its status below "---". The words say what a node has: see
//	                     nodeImage. Besides, image=nginx:2, generation=3, over=10m and reported=2s (before noon), going, gone, reserve=10s,
//	                     refer, and for each secret look=(s,1m) (before noon), bad=(s,1m), trying=s and copy=(s,default/pull).
//	tasks NODE=WORD ...  does so, and shows what becomes of the image in the NodeImages
//	patch NODE=WORD ...  does so, and shows the patch
//	nodes NODE=WORD ...  does so, and shows how far the nodes are, and nothing else
//	pods                 has the pods that follow be there for the plans from then on: NAME NODE, and words. Besides,
//	                     cloneset[=gold] or statefulset[=gold] control the job; gold is a priority, and broken one that cannot be read.
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		of := &Snapshot{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "pods" {
				of = podsOf(d)
				return ""
			}
			return showPlan(t, d, snapshotOf(t, d, *of))
		})
	})
}

// podsOf are the pods that the lines of a script name, and what controls them.
func podsOf(d *datadriven.TestData) *Snapshot {
	s := &Snapshot{}
	for line := range strings.Lines(d.Input) {
		said := strings.Fields(line)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: said[0]},
			Spec: corev1.PodSpec{NodeName: strings.TrimPrefix(said[1], "none")}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
		s.Pods = append(s.Pods, patches.Changed(words, pod, said[2:]...))
	}
	for _, arg := range d.CmdArgs {
		if word := arg.String(); patches.Has[workloadsv1alpha1.CloneSet](words, word) {
			s.CloneSet = patches.Changed(words, &workloadsv1alpha1.CloneSet{}, word)
		} else {
			s.StatefulSet = patches.Changed(words, &workloadsv1beta1.StatefulSet{}, word)
		}
	}
	return s
}

// snapshotOf is what a line of a script says, beside pods.
func snapshotOf(t *testing.T, d *datadriven.TestData, s Snapshot) *Snapshot {
	spec, status, _ := strings.Cut(d.Input, "---\n")
	s.Job, s.Now, s.NodeImages, s.Looks = newJob(t, strings.TrimSuffix(spec, "---")), noon, map[string]*v1alpha1.NodeImage{}, map[string]Look{}
	if err := yaml.UnmarshalStrict([]byte(status), &s.Job.Status); err != nil {
		d.Fatalf(t, "%v", err)
	}
	before := func(words []string) time.Time { return noon.Add(-patches.Duration(t, words[len(words)-1])) }
	for _, arg := range d.CmdArgs {
		switch {
		case patches.Has[v1alpha1.ImagePullJob](words, arg.String()):
			s.Job = patches.Changed(words, s.Job, arg.String())
		case arg.Key == "reported":
			s.Reported = before(arg.Vals)
		case arg.Key == "gone":
			s.Job = nil
		case arg.Key == "reserve":
			s.TTLReserve = patches.Duration(t, arg.Vals[0])
		case arg.Key == "refer":
			s.ReferToSourceSecrets = true
		case arg.Key == "look":
			s.Looks[arg.Vals[0]] = Look{At: before(arg.Vals)}
		case arg.Key == "bad":
			s.Looks[arg.Vals[0]] = Look{At: before(arg.Vals), Problem: "it does not exist"}
		case arg.Key == "trying":
			s.Looks[arg.Vals[0]] = Look{Trying: "it cannot be copied (InternalError), and is tried again"}
		case arg.Key == "copy":
			s.Copies = append(s.Copies, copied(arg.Vals[0], arg.Vals[1:]...))
		default:
			s.NodeImages[arg.Key] = nodeImage(arg.Key, arg.Vals...)
		}
	}
	return &s
}

// showPlan shows a plan. Whatever it is, it changes nothing that it is made of, is the same when it is made again, and says its status once.
func showPlan(t *testing.T, d *datadriven.TestData, s *Snapshot) string {
	job, before := s.Job.DeepCopy(), map[string]*v1alpha1.NodeImage{}
	for name, n := range s.NodeImages {
		before[name] = n.DeepCopy()
	}
	plan := NewPlan(s)
	if changed := diff.Diff(job, s.Job) + diff.Diff(before, s.NodeImages) + diff.Diff(patches.JSON(t, plan), patches.JSON(t, NewPlan(s))); changed != "" {
		t.Errorf("%s: it changes what it is made of, or is another the second time:\n%s", d.Pos, changed)
	}
	lines := slices.Collect(strings.Lines(plan.String()))
	if d.Cmd == "nodes" {
		lines = nil
		for _, n := range plan.Nodes {
			lines = append(lines, fmt.Sprintln(n.Name, n.State))
		}
		return strings.Join(lines, "")
	}
	lines = append(lines, "\n")
	if plan.Image != "nginx" && plan.Image != "" || plan.Tag != "1" && plan.Tag != "" {
		lines = append(lines, fmt.Sprintln("image", plan.Image, "tag", plan.Tag))
	}
	if s := plan.Status; s != nil {
		lines = append(lines, showStatus(s))
	}
	for _, given := range plan.Assign {
		patch, err := given.Patch()
		if err != nil {
			t.Error(err)
		}
		switch d.Cmd {
		case "tasks":
			lines = append(lines, ownerJSON.ReplaceAllString(patches.JSON(t, given.Image), `"$1/$2"`)+"\n")
		case "patch":
			lines = append(lines, string(patch)+"\n")
		}
	}
	if plan.RequeueAfter > 0 {
		lines = append(lines, fmt.Sprintln("again in", plan.RequeueAfter))
	}
	if s.Job != nil && plan.Status != nil {
		s.Job.Status = *plan.Status
		if again := NewPlan(s); again.Status != nil {
			t.Errorf("%s: the status is written again: %+v", d.Pos, again.Status)
		}
	}
	return strings.TrimLeft(strings.Join(lines, ""), "\n")
}

// ownerJSON is a reference to a job, which is shown as its namespace and name.
var ownerJSON = regexp.MustCompile(`\{"kind":"ImagePullJob","namespace":"([^"]*)","name":"([^"]*)",` +
	`"uid":"[^"]*","apiVersion":"apps.kruise.io/v1alpha1"\}`)

func showStatus(s *v1alpha1.ImagePullJobStatus) string {
	words := []string{"status: " + s.Message}
	for what, when := range maps.All(map[string]*metav1.Time{"started": s.StartTime, "over": s.CompletionTime}) {
		if when != nil {
			words = append(words, what+" at "+when.UTC().Format(time.TimeOnly))
		}
	}
	slices.Sort(words[1:])
	if len(s.FailedNodes) > 0 {
		words = append(words, fmt.Sprint("failed ", s.FailedNodes))
	}
	if s.ObservedGeneration > 0 {
		words = append(words, fmt.Sprint("of generation ", s.ObservedGeneration))
	}
	return strings.Join(words, ", ") + "\n"
}
