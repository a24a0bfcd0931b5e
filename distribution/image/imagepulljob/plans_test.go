// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	diff "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/distribution/v1alpha1"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// TestPlans shows what is planned for the job pull of nginx:1 at noon. To accept a change of behaviour, run the test with -rewrite and
// read the difference.
//
//	plan NODE=WORD ...   plans for the job whose spec follows, and then perhaps its status below "---". The words say what a node has:
//	                     task (that of the job), a phase that it reports of it, task:TAG[:OWNER], says:TAG:VERSION:PHASE, full (as many
//	                     images as may be), always (the tasks ask the registry), sandbox, secrets (of others), zone:one, and going.
//	                     Besides, image=nginx:2, generation=3, over=10m and reported=2s (before noon), going, gone, reserve=10s, refer, and
//	                     for each secret look=(s,1m) (before noon), bad=(s,1m), trying=s and copy=(s,default/pull).
//	tasks NODE=WORD ...  does so, and shows what becomes of the image in the NodeImages
//	patch NODE=WORD ...  does so, and shows the patch
//	nodes NODE=WORD ...  does so, and shows how far the nodes are, and nothing else
//	pods                 has the pods that follow be there for the plans from then on: NAME NODE, labels, a phase, Ready or going. Besides,
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
		words := strings.Fields(line)
		labels := map[string]string{}
		p := pod(words[0], strings.TrimPrefix(words[1], "none"), labels)
		for _, word := range words[2:] {
			switch key, value, isLabel := strings.Cut(word, "="); {
			case isLabel:
				labels[key] = value
			case word == "Ready":
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			case word == "going":
				p.DeletionTimestamp = at(0)
			default:
				p.Status.Phase = corev1.PodPhase(word)
			}
		}
		s.Pods = append(s.Pods, p)
	}
	for _, arg := range d.CmdArgs {
		priority := priorities[strings.Join(arg.Vals, "")]
		if arg.Key == "cloneset" {
			s.CloneSet = &workloadsv1alpha1.CloneSet{}
			s.CloneSet.Spec.UpdateStrategy.PriorityStrategy = priority
			continue
		}
		s.StatefulSet = &workloadsv1beta1.StatefulSet{}
		if priority != nil {
			s.StatefulSet.Spec.UpdateStrategy.RollingUpdate = &workloadsv1beta1.RollingUpdateStatefulSetStrategy{
				UnorderedUpdate: &workloadsv1beta1.UnorderedUpdateStrategy{PriorityStrategy: priority}}
		}
	}
	return s
}

var priorities = map[string]*inplacev1alpha1.UpdatePriorityStrategy{
	"gold": {WeightPriority: []inplacev1alpha1.UpdatePriorityWeightTerm{weightOf(metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}})}},
	"broken": {WeightPriority: []inplacev1alpha1.UpdatePriorityWeightTerm{
		weightOf(metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}})}},
}

func weightOf(pods metav1.LabelSelector) inplacev1alpha1.UpdatePriorityWeightTerm {
	return inplacev1alpha1.UpdatePriorityWeightTerm{Weight: 10, MatchSelector: pods}
}

// snapshotOf is what a line of a script says, beside pods.
func snapshotOf(t *testing.T, d *datadriven.TestData, s Snapshot) *Snapshot {
	spec, status, _ := strings.Cut(d.Input, "---\n")
	s.Job, s.Now, s.NodeImages, s.Looks = newJob(t, strings.TrimSuffix(spec, "---")), noon, map[string]*v1alpha1.NodeImage{}, map[string]Look{}
	if err := yaml.UnmarshalStrict([]byte(status), &s.Job.Status); err != nil {
		d.Fatalf(t, "%v", err)
	}
	before := func(words []string) time.Time {
		ago, err := time.ParseDuration(cmp.Or(words[len(words)-1], "0s"))
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		return noon.Add(-ago)
	}
	job, gone := s.Job, false
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "image":
			job.Spec.Image = arg.Vals[0]
		case "generation":
			arg.Scan(t, 0, &job.Generation)
		case "over":
			job.Status.CompletionTime = &metav1.Time{Time: before(arg.Vals)}
		case "reported":
			s.Reported = before(arg.Vals)
		case "going":
			job.DeletionTimestamp = at(0)
		case "gone":
			gone = true
		case "reserve":
			s.TTLReserve = noon.Sub(before(arg.Vals))
		case "refer":
			s.ReferToSourceSecrets = true
		case "look":
			s.Looks[arg.Vals[0]] = Look{At: before(arg.Vals)}
		case "bad":
			s.Looks[arg.Vals[0]] = Look{At: before(arg.Vals), Problem: "it does not exist"}
		case "trying":
			s.Looks[arg.Vals[0]] = Look{Trying: "it cannot be copied (InternalError), and is tried again"}
		case "copy":
			s.Copies = append(s.Copies, copied(arg.Vals[0], arg.Vals[1:]...))
		default:
			s.NodeImages[arg.Key] = nodeImage(arg.Key, having(arg.Vals)...)
		}
	}
	if gone {
		s.Job = nil
	}
	return &s
}

// having are the words that say what a node has.
func having(words []string) (all []func(*v1alpha1.NodeImage)) {
	for _, word := range words {
		parts := strings.Split(word, ":")
		switch parts[0] {
		case "task":
			all = append(all, taskOf(parts[1:]))
		case "says":
			version, _ := strconv.ParseInt(parts[2], 10, 64)
			all = append(all, reports("nginx", parts[1], version, v1alpha1.ImagePullPhase(parts[3])))
		case "full":
			for i := range v1alpha1.MaxNodeImageImages {
				all = append(all, task(fmt.Sprint("image", i), "1"))
			}
		case "one-of-all":
			all = append(append(all, having([]string{"full", "task:0"})...), func(n *v1alpha1.NodeImage) { delete(n.Spec.Images, "image0") })
		case "always":
			all = append(all, func(n *v1alpha1.NodeImage) { n.Spec.Images["nginx"].Tags[0].ImagePullPolicy = v1alpha1.ImagePullAlways })
		case "sandbox":
			all = append(all, onImage(func(i *v1alpha1.ImageSpec) {
				i.SandboxConfig = &v1alpha1.SandboxConfig{Labels: map[string]string{"old": "1"}}
			}))
		case "secrets":
			others := []v1alpha1.ReferenceObject{{Namespace: "kube-system", Name: "a"}, {Namespace: "default", Name: "b"}}
			all = append(all, onImage(func(i *v1alpha1.ImageSpec) { i.PullSecrets = others }))
		case "zone":
			all = append(all, func(n *v1alpha1.NodeImage) { n.Labels = map[string]string{"zone": parts[1]} })
		case "going":
			all = append(all, func(n *v1alpha1.NodeImage) { n.DeletionTimestamp = at(0) })
		case "":
		default:
			all = append(all, given(v1alpha1.ImagePullPhase(word)))
		}
	}
	return all
}

// taskOf is a task by its tag and its owners; that of the job if there is no tag.
func taskOf(parts []string) func(*v1alpha1.NodeImage) {
	if len(parts) == 0 {
		return given("")
	}
	var owners []corev1.ObjectReference
	for _, name := range parts[1:] {
		owner := mine
		switch name {
		case "other":
			owner.Name, owner.UID = "other", "other-uid"
		case "elsewhere":
			owner.Namespace, owner.Name, owner.UID = "elsewhere", "other", "other-uid"
		}
		owners = append(owners, owner)
	}
	return task("nginx", parts[0], owners...)
}

func onImage(change func(*v1alpha1.ImageSpec)) func(*v1alpha1.NodeImage) {
	return func(n *v1alpha1.NodeImage) {
		image := n.Spec.Images["nginx"]
		change(&image)
		n.Spec.Images["nginx"] = image
	}
}

// showPlan shows a plan. Whatever it is, it changes nothing that it is made of, is the same when it is made again, and says its status once.
func showPlan(t *testing.T, d *datadriven.TestData, s *Snapshot) string {
	job, before := s.Job.DeepCopy(), map[string]*v1alpha1.NodeImage{}
	for name, n := range s.NodeImages {
		before[name] = n.DeepCopy()
	}
	plan := NewPlan(s)
	if changed := diff.Diff(job, s.Job) + diff.Diff(before, s.NodeImages) + diff.Diff(asJSON(plan), asJSON(NewPlan(s))); changed != "" {
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
			lines = append(lines, ownerJSON.ReplaceAllString(asJSON(given.Image), `"$1/$2"`))
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

func asJSON(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(data) + "\n"
}

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
