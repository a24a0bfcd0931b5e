// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/examples/tests/testbed/podhistory"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// check is one promise, what was measured, and whether it held. A promise that could not be checked, because nothing was seen,
// counts as broken too.
type check struct {
	ok   bool
	text string // with its figures, such as "10 of 10 pods kept their UID"
}

// promise is a rule that so many pods shall keep, and none break.
type promise struct {
	Pods int
	Some bool   // as many as there are, and at least one
	Text string // with the figures of those that keep it, and of all
	Rule string
}

// track is what has become of a pod in an act in which a node was drained; "": none was.
type track struct {
	*podhistory.Track
	drained string
}

// outcome is what comes of a rule in one pod, which may have nothing to do with it.
type outcome struct{ kept, broken bool }

// must is that in a pod which has to keep it.
func must(keep bool) outcome { return outcome{keep, !keep} }

// checks compares what became of the pods since an act began, after as many changes, with what it promises. It also checks
// what holds in all acts that find their pods there. In the end the pods are as the API server lists them, read afresh:
// watches may be wrong.
func (a *act) checks(changes []podhistory.Change, since int, final []corev1.Pod, drained string) (all []check) {
	ended := slices.Clone(changes)
	for i := range final {
		ended = append(ended, podhistory.Change{New: &final[i]})
	}
	tracks := podhistory.Tracks(ended, since)
	for uid, t := range tracks {
		t.Gone = !slices.ContainsFunc(final, func(pod corev1.Pod) bool { return pod.UID == uid })
	}
	add := func(p promise) { all = append(all, a.check(tracks, p, drained)) }
	if !a.Creates && !a.Moves {
		add(promise{Pods: a.Pods, Rule: "same", Text: "%d of %d pods kept their name and UID, and there were no others"})
		maps.DeleteFunc(tracks, func(_ types.UID, t *podhistory.Track) bool { return t.Created })
		add(promise{Pods: a.Pods, Rule: "stayed", Text: "%d of %d pods kept their node and their IP"})
	}
	if !a.Creates {
		most := a.Pods - podhistory.Least(changes, since, available)
		all = append(all, check{most <= a.Missing, fmt.Sprintf("at most %d pods were unavailable at any moment (allowed: %d; %d states)", most, a.Missing, len(changes)-since)})
	}
	for _, p := range a.Promises {
		add(p)
	}
	return all
}

// check counts the pods that keep a promise. One that is gone keeps none, unless pods come and go.
func (a *act) check(tracks map[types.UID]*podhistory.Track, p promise, drained string) check {
	kept, broken := 0, []string(nil)
	for _, t := range tracks {
		o := rules[p.Rule](track{t, drained})
		if t.Gone && !a.Moves {
			o = must(false)
		}
		if o.kept {
			kept++
		}
		if o.broken {
			broken = append(broken, t.First().Name)
		}
	}
	text := fmt.Sprintf(p.Text, kept, a.Pods)
	if slices.Sort(broken); len(broken) > 0 {
		text += "; not: " + strings.Join(broken, ", ")
	}
	return check{(kept == p.Pods || p.Some && kept > 0) && len(broken) == 0, text}
}

// verdict says what was checked of an act, and errChecks if a check failed.
func verdict(name string, checks []check) (lines []line, err error) {
	if len(checks) > 0 {
		lines = []line{{}, {name + ", checked with the API server:", title}}
	}
	for _, c := range checks {
		if c.ok {
			lines = append(lines, line{"  ok      " + c.text, good})
		} else {
			lines, err = append(lines, line{"  FAILED  " + c.text, bad}), errChecks
		}
	}
	return lines, err
}

// The containers of an injected pod in their order, and the two that mesh became.
var allContainers, hotContainers = []string{"log", "mesh-1", "mesh-2", "main"}, []string{"mesh-1", "mesh-2"}

// rules are what promises are about.
var rules = map[string]func(track) outcome{
	// It was there before, and is there now; and it was in the same place at every moment.
	"same":   func(t track) outcome { return must(!t.Created && !t.Deleted) },
	"stayed": func(t track) outcome { return must(len(t.Places()) == 1) },
	// In the end it is Ready, or on some nodes. It may be one that has gone.
	"ready": func(t track) outcome {
		return outcome{!t.Gone && readiness.Ready(t.Last()), !t.Gone && !readiness.Ready(t.Last())}
	},
	"own": func(t track) outcome { return outcome{kept: !t.Gone && slices.Contains(own, t.Last().Spec.NodeName)} },
	"rented": func(t track) outcome {
		return outcome{kept: !t.Gone && slices.Contains(rented, t.Last().Spec.NodeName)}
	},
	// It was on the node that was drained, and was evicted.
	"evicted": func(t track) outcome {
		there, evicted := !t.Created && t.First().Spec.NodeName == t.drained, t.Gone && podstate.Evicted(t.Last())
		return outcome{there && evicted, there && !evicted}
	},
	// One of its containers restarted, once. It may be a pod of which none did.
	"restarted": func(t track) outcome {
		n := restarts(t.Last()) - restarts(t.First())
		return outcome{n == 1, n < 0 || n > 1}
	},
	// It is Ready with the image that it shall have in the end, in another container if one restarted.
	"serves": func(t track) outcome {
		main := t.Last().Spec.Containers[0]
		before, after := podstate.ContainerStatus(t.First(), main.Name).ContainerID, podstate.ContainerStatus(t.Last(), main.Name).ContainerID
		same := restarts(t.First()) == restarts(t.Last())
		return must(readiness.Ready(t.Last()) && main.Image == newImage && after != "" && (after == before) == same)
	},
	// From when it got another image it was out of service, until its container had restarted. It may be a pod that got none.
	"shielded": func(t track) outcome {
		updated, out, exposed := false, false, false
		for _, pod := range t.States {
			updated = updated || pod.Spec.Containers[0].Image != t.First().Spec.Containers[0].Image
			out = out || updated && !readiness.Ready(pod)
			exposed = exposed || updated && readiness.Ready(pod) && restarts(pod) == restarts(t.First())
		}
		return outcome{out && !exposed, exposed}
	},
	// It was created as Inject has it, which finds nothing to add.
	"injected": func(t track) outcome {
		pod, set := t.First(), &v1alpha1.SidecarSet{}
		if yaml.Unmarshal(documents("sidecarset")[0], set) != nil {
			return must(false)
		}
		set.Status.LatestRevision = injectedRevision(pod)
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: pod.Namespace}}
		want, err := injection.Inject(injection.Input{Pod: pod, Namespace: namespace, SidecarSets: []*v1alpha1.SidecarSet{set}, Now: time.Now()})
		return must(err == nil && set.Status.LatestRevision != "" && maps.Equal(want.Pod.Annotations, pod.Annotations) &&
			slices.EqualFunc(pod.Spec.Containers, allContainers, func(c corev1.Container, name string) bool { return c.Name == name }))
	},
	// One of both hot containers was ready at every moment with the image that it should have, and not the empty one.
	"works": func(t track) outcome {
		return must(!slices.ContainsFunc(t.States, func(pod *corev1.Pod) bool {
			return !slices.ContainsFunc(hotContainers, func(name string) bool { return podstate.Image(pod, name) != meshEmpty && podstate.Runs(pod, name) })
		}))
	},
	// There were a hot upgrade and one back, and the annotations told of them. Of both containers the empty one has version
	// 0, and the working one is not empty. Each knows the version of the other.
	"flipped": func(t track) (o outcome) {
		var worked []string
		for _, pod := range t.States {
			var working map[string]string
			o.broken = json.Unmarshal([]byte(pod.Annotations[v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation]), &working) != nil || o.broken
			worked = append(worked, working["mesh"])
			for i, name := range hotContainers {
				version, empty := pod.Annotations[v1alpha1.SidecarSetVersionAnnotationPrefix+name], podstate.Image(pod, name) == meshEmpty
				o.broken = o.broken || version == "" || (version == "0") != empty || empty && name == working["mesh"] ||
					version != pod.Annotations[v1alpha1.SidecarSetVersionAltAnnotationPrefix+hotContainers[1-i]]
			}
		}
		o.kept = slices.Equal(slices.Compact(worked), []string{"mesh-1", "mesh-2", "mesh-1"})
		return o
	},
	// Each hot container took another image and its first one again, and no other container restarted.
	"returned": func(t track) outcome {
		return must(readiness.Ready(t.Last()) && !slices.ContainsFunc(allContainers, func(name string) bool {
			want := podstate.ContainerStatus(t.First(), name).RestartCount
			if slices.Contains(hotContainers, name) {
				want += 2
			}
			return podstate.ContainerStatus(t.Last(), name).RestartCount != want || podstate.Image(t.Last(), name) != podstate.Image(t.First(), name)
		}))
	},
}

// restarts counts those of all containers of a pod.
func restarts(pod *corev1.Pod) (n int32) {
	for i := range pod.Status.ContainerStatuses {
		n += pod.Status.ContainerStatuses[i].RestartCount
	}
	return n
}
