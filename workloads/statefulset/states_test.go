// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/workloads/v1beta1"
)

var (
	testTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	words    = patches.Read("testdata/words.yaml", testTime)
)

// state is what words say of a Snapshot.
type state struct {
	Set       *v1beta1.StatefulSet
	Revisions []*appsv1.ControllerRevision
	Pods      []*corev1.Pod
	Claims    map[string]*corev1.PersistentVolumeClaim
	Classes   map[string]*storagev1.StorageClass
	BackOff   map[string]time.Time
	Denied    map[types.UID]rollout.Denial
	Now       time.Time
	Features  Features

	refused rollout.Refusals // which words cannot say
}

// testSnapshot is the state that a line describes, as those of TestPlans do.
func testSnapshot(t testing.TB, line string) *Snapshot {
	t.Helper()
	_, args, err := datadriven.ParseLine("plan " + line)
	if err != nil {
		t.Fatal(err)
	}
	return stateOf(t, args)
}

// stateOf is the state that the arguments of a command describe: a StatefulSet named web with pods and changes. Each word of a pod is an ordinal,
// a letter for the revision, and marks for the state, which are words. Revisions A, B and C have the images a, b and c. They exist as far as pods or
// the template have them, in this order of age.
func stateOf(t testing.TB, args []datadriven.CmdArg) *Snapshot {
	t.Helper()
	template, current, _ := strings.Cut(args[0].Key, "/")
	var pods []string
	changes := args[1:]
	for len(changes) > 0 && changes[0].Vals == nil && strings.ContainsAny(changes[0].Key[:1], "0123456789") {
		pods, changes = append(pods, changes[0].Key), changes[1:]
	}
	s := &state{Now: testTime, Claims: map[string]*corev1.PersistentVolumeClaim{}, Set: testSetAt(template, fmt.Sprint("replicas=", len(pods)))}
	for _, letter := range []string{"A", "B", "C"} {
		if letter <= max(template, current) || strings.Contains(fmt.Sprint(pods), letter) {
			s.Revisions = append(s.Revisions, testRevision(t, letter))
		}
	}
	for _, word := range pods {
		s.Pods = append(s.Pods, testPod(t, s.snapshot(), word))
	}
	s.Set.Status.CurrentRevision = testRevision(t, current).Name
	for _, arg := range changes {
		if arg.Vals == nil {
			s = s.changed(arg.Key)
		}
		for _, value := range arg.Vals {
			s = s.changed(arg.Key + "=" + value)
		}
	}
	return s.snapshot()
}

func (s *state) snapshot() *Snapshot {
	s.refused.Denied = s.Denied
	return &Snapshot{Set: s.Set, Revisions: s.Revisions, Pods: s.Pods, Claims: s.Claims, Classes: s.Classes, BackOff: s.BackOff,
		Refused: s.refused, Now: s.Now, Features: s.Features}
}

// changed is the state after a word, or after one of:
//
//	release=1.9       features are those of a release
//	reserveEach=n     that many ordinals are reserved, one by one
//	refused=0:1s      the update of a pod was refused, and none is tried for that long
//	claimed           there is the claim template data, and the claim of each pod
//	grow=20:10,20/10  the template data asks for 20Gi, and the claims of pods ask for 10Gi, and for 20Gi of which they have 10Gi; see sizedClaim
//	growLogs=9:5      the template logs asks for 9Gi, and the claim of the first pod for 5Gi
func (s *state) changed(word string) *state {
	name, value, _ := strings.Cut(word, "=")
	first, rest, _ := strings.Cut(value, ":")
	number, _ := strconv.Atoi(first)
	switch name {
	case "release":
		s.Features = FeaturesOf(podwright.Release19)
	case "reserveEach":
		for i := range number {
			s.Set.Spec.ReserveOrdinalRanges = append(s.Set.Spec.ReserveOrdinalRanges, intstr.FromInt(i))
		}
	case "refused":
		wait, _ := time.ParseDuration(rest)
		no := errors.New("no")
		s.refused = rollout.Refusals{Until: s.Now.Add(wait), Pods: map[types.UID]error{s.Pods[number].UID: no}, Err: no}
	default:
		s = s.said(word)
	}
	switch name {
	case "claimed":
		for i, pod := range s.Pods {
			ordinal, _ := ordinalOf("web", pod.Name)
			s = s.said(fmt.Sprintf("mount=%d:data-web-%d", i, ordinal)).said(fmt.Sprint("claim=", ordinal))
		}
	case "grow":
		for i, size := range strings.Split(rest, ",") {
			claim := "data-" + s.Pods[i].Name
			if s = s.said(fmt.Sprintf("mount=%d:%s", i, claim)); size != "-" {
				s.Claims[claim] = sizedClaim(claim, size)
			}
		}
	case "growLogs":
		s.Claims["logs-web-0"] = sizedClaim("logs-web-0", rest)
	}
	return s
}

// said is the state after a word of states or of StatefulSets.
func (s *state) said(word string) *state {
	if patches.Has[v1beta1.StatefulSet](words, word) {
		s.Set = patches.Changed(words, s.Set, word)
		return s
	}
	after := patches.Changed(words, s, word)
	after.refused = s.refused
	return after
}

// sizedClaim is a claim that asks for so many Gi and has so many. "10" stands for "10/10". Words of claims follow.
func sizedClaim(name, size string) *corev1.PersistentVolumeClaim {
	sizes := strings.TrimRight(size, "fsxuo!")
	asks, has, _ := strings.Cut(sizes, "/")
	return patches.Changed(words, &corev1.PersistentVolumeClaim{}, "named="+name, "asks="+asks, "has="+cmp.Or(has, asks), strings.TrimPrefix(size, sizes))
}

// testSetAt is the StatefulSet with the template of a letter.
func testSetAt(letter string, changes ...string) *v1beta1.StatefulSet {
	return patches.Changed(words, &v1beta1.StatefulSet{}, append([]string{"web", "image=" + strings.ToLower(letter)}, changes...)...)
}

func testRevision(t testing.TB, letter string, changes ...string) *appsv1.ControllerRevision {
	t.Helper()
	set, number := testSetAt(letter, changes...), int64(letter[0]-'A'+1)
	r, err := revision.New(set, v1beta1.SchemeGroupVersion.WithKind("StatefulSet"), &set.Spec.Template, number, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.UID = types.UID("uid-revision-" + letter)
	r.CreationTimestamp = metav1.NewTime(testTime.Add(time.Duration(number-100) * time.Hour))
	return r
}

// letterOf is the letter of a revision by its name.
func letterOf(s *Snapshot, name string) string {
	for _, r := range s.Revisions {
		if r.Name == name {
			return string(rune('A' + r.Revision - 1))
		}
	}
	return "?"
}

func testPod(t testing.TB, s *Snapshot, word string) *corev1.Pod {
	t.Helper()
	digits := strings.TrimRight(word, "ABC-~!?%^*#@")
	ordinal, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatalf("pod %q: want an ordinal, a letter and marks", word)
	}
	letter, marks := word[len(digits):len(digits)+1], word[len(digits)+1:]
	p := &planner{Snapshot: s, plan: &Plan{}}
	p.plan.Revisions.Update = s.Revisions[letter[0]-'A']
	p.Planner.Workload = p.workload()
	if err := p.ReadSelector(); err != nil {
		t.Fatal(err)
	}
	c := p.newCreation()
	c.templates[p.plan.Revisions.Update] = &testSetAt(letter).Spec.Template
	pod, err := c.newPod(podName("web", ordinal), ordinal, p.plan.Revisions.Update)
	if err != nil {
		t.Fatal(err)
	}
	return patches.Changed(words, pod, append([]string{"running=" + pod.Name}, strings.Split(marks, "")...)...)
}
