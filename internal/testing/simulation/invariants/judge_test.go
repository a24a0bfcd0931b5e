// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TestJudges shows what judges say of single writes. Each directive "judge" is a state that the author of the write knows in full, and
// the write. The workload is web, which goes from revision a to b. Shown is what the write breaks. Words are those of testdata/words.yaml.
//
//	cloneset|statefulset REPLICAS WORD…
//	conditions TYPE MESSAGE…, replicas 1        of the status of the workload, which counts one pod
//	past, past-of resizes|pre-normal            the pods that follow were seen before, and a was current; features of StatefulSets
//	pod NAME REVISION WORD…, claim NAME ASKS HAS CONDITION…, owned-claim NAME OWNER…
//	unseen REVISION, expandable, refused VERB RESOURCE
//	                                            the author does not know a revision; claims can grow; what it was refused before
//
// The write is one of:
//
//	create NAME REVISION WORD…
//	delete NAME WORD…                           the words have changed the pod since
//	remove NAME                                 the pod is gone at once
//	patch NAME WORD…
//	own-claim NAME OWNER…, delete-claim NAME, delete-revision REVISION [changed]
//	current REVISION                            the status says that this is the current revision
//	settled, settled-claims, says-mount         none: all has settled
func TestJudges(t *testing.T) {
	datadriven.Walk(t, "testdata/judges", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			c := &testCase{t: t, state: &State{Now: testTime, Pods: map[string]*corev1.Pod{}, Claims: map[string]*corev1.PersistentVolumeClaim{}}}
			for line := range strings.Lines(d.Input) {
				c.line(strings.Fields(line))
			}
			if len(c.violations) == 0 {
				return "nothing\n"
			}
			var out strings.Builder
			for _, v := range c.violations {
				fmt.Fprintln(&out, v)
			}
			return out.String()
		})
	})
}

var (
	testTime  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	testWords = patches.Read("testdata/words.yaml", testTime)
)

// made is a new object that words say all of.
func made[T any](words ...string) *T { return patches.Changed(testWords, new(T), words...) }

// testPod is an available pod of the set, by its name and revision, and by what words change.
func testPod(words []string) *corev1.Pod {
	name, revision := words[0], words[1]
	return made[corev1.Pod](append([]string{"new=" + name + ":" + revision, "id=" + strings.TrimPrefix(name, "web-")}, words[2:]...)...)
}

// testClaim is a claim. It has owners, given as NAME or NAME@UID. Or it is of the class fast, and has what it asks for, what it has,
// and conditions.
func testClaim(what string, args []string) *corev1.PersistentVolumeClaim {
	words := []string{"named=" + args[0]}
	if what == "claim" {
		words, args = append(words, "sized="+args[1]+":"+args[2]), args[2:]
	}
	for _, word := range args[1:] {
		name, uid, given := strings.Cut(word, "@")
		switch {
		case what == "claim":
			words = append(words, "condition="+word)
		case name == "web":
			words = append(words, "owner=web")
		case given:
			words = append(words, "owner="+name+":"+uid)
		default:
			words = append(words, "owner="+name+":uid-"+name)
		}
	}
	return made[corev1.PersistentVolumeClaim](words...)
}

// testCase is a state, and what a judge has said.
type testCase struct {
	t          *testing.T
	state      *State
	set        *v1beta1.StatefulSet // nil for a CloneSet
	past       *Past
	unseen     string
	refused    []Refusal
	violations violations
}

func (c *testCase) line(words []string) {
	name, args := words[0], words[1:]
	switch name {
	case "cloneset":
		c.state.Workload = made[v1alpha1.CloneSet](append([]string{"new=" + args[0]}, args[1:]...)...)
	case "statefulset":
		c.set = made[v1beta1.StatefulSet](append([]string{"new=" + args[0]}, args[1:]...)...)
		c.state.Workload = c.set
	case "replicas":
		c.set.Status.Replicas = 1
	case "conditions":
		*c.set = *patches.Changed(testWords, c.set, "counted", "condition="+args[0]+":"+strings.Join(args[1:], " "))
	case "past":
		c.past = NewPast()
		c.past.becomesCurrent(c.set.UID, "a")
	case "past-of":
		c.past = NewPast()
		c.past.StatefulSets.ResizeClaims, c.past.StatefulSets.PreNormal = args[0] == "resizes", args[0] == "pre-normal"
	case "pod":
		c.state.Pods[args[0]] = testPod(args)
		if c.past != nil {
			c.past.Observe(&Change{After: c.state.Pods[args[0]]})
		}
	case "claim", "owned-claim":
		c.state.Claims[args[0]] = testClaim(name, args)
	case "expandable":
		c.state.Expandable = []string{"fast"}
	case "unseen":
		c.unseen = "web-" + args[0]
	case "refused":
		c.refused = append(c.refused, Refusal{Verb: args[0], Resource: args[1]})
	default:
		c.judge(name, args)
	}
}

// judge has a write judged.
func (c *testCase) judge(name string, args []string) {
	c.state.Revisions = map[string]*appsv1.ControllerRevision{}
	for i, revision := range []string{"a", "b", "c"} {
		if revision != "c" || name == "delete-revision" || name == "current" {
			c.state.Revisions["web-"+revision] = made[appsv1.ControllerRevision]("new="+revision, fmt.Sprint("number=", i+1))
		}
	}
	known := *c.state
	if c.unseen != "" {
		known.Revisions = map[string]*appsv1.ControllerRevision{"web-a": known.Revisions["web-a"]}
	}
	w := &Write{Verb: name, Resource: "pods", Refused: c.refused, Truth: c.state, Known: &known, Observed: &known}
	j := func() *statefulSetJudge { return newStatefulSetJudge(&c.violations, w, c.set, c.past) }
	change := func(words ...string) *corev1.Pod { return patches.Changed(testWords, c.state.Pods[args[0]], words...) }
	switch name {
	case "create":
		w.After = patches.Changed(testWords, testPod(args[:2]), append([]string{"state=Normal"}, args[2:]...)...) // it waits for no hook (STS-5)
	case "delete":
		w.Before, w.After = change(args[1:]...), change(append(args[1:], "going")...)
	case "remove":
		w.Verb, w.Before = "delete", c.state.Pods[args[0]]
	case "patch":
		w.Before, w.After = c.state.Pods[args[0]], change(args[1:]...)
	case "own-claim":
		w.Verb, w.Resource, w.Before, w.After = "patch", "persistentvolumeclaims", c.state.Claims[args[0]], testClaim(name, args)
	case "delete-claim":
		w.Verb, w.Resource, w.Before = "delete", "persistentvolumeclaims", c.state.Claims[args[0]]
	case "delete-revision":
		for name, r := range known.Revisions {
			known.Revisions[name] = patches.Changed(testWords, r, "owned")
		}
		w.Verb, w.Resource, w.Before, w.Asked = "delete", "controllerrevisions", known.Revisions["web-"+args[0]], &Preconditions{UID: "uid", ResourceVersion: "1"}
		if len(args) > 1 {
			w.Asked = &Preconditions{UID: "uid"}
		}
	case "current":
		j().checkCurrent(&v1beta1.StatefulSetStatus{CurrentRevision: "web-" + args[0], UpdateRevision: "web-b"})
		return
	case "settled":
		j().checkConverged(&known)
		return
	case "says-mount":
		j().checkSaysMount(&known)
		return
	case "settled-claims":
		c.past = NewPast()
		c.past.Observe(&Change{After: c.set.DeepCopy()}) // it had the template once
		c.set.Spec.VolumeClaimTemplates = nil
		j().checkSettledClaims(&known)
		return
	default:
		c.t.Fatalf("unknown line %s", name)
	}
	if c.set == nil {
		c.violations = CloneSet(w, CloneSetFeatures{})
	} else {
		c.violations = c.past.StatefulSet(w)
	}
}
