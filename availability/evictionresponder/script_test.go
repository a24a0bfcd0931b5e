// SPDX-License-Identifier: Apache-2.0

package evictionresponder_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/availability/evictionresponder"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestStories plays the stories in testdata: see fixture.PlayStories. The option "room" is the RoomTimeout. "pod web 1" creates a pod,
// the only one of a CloneSet with that maxSurge, and "more web web-b" another one of it. "surge" and "replicas" change a CloneSet,
// "other-set" puts another of the name in its place, and "room" has CloneSets make room. "evict web" makes an Eviction of a pod, with
// the name that follows or the pod's. "turn" changes the state of the responder, and "gone" deletes an Eviction. "answer" is what the
// API server says to evictions from now on. Before the next report, "before-report" has the entries of an Eviction change places, or
// another one take its name. "state" shows pods and reports, and "whole" the whole status of the Eviction web.
// "contest" has another writer take back each report for an hour. "asked" shows when the responder has asked for evictions since "answer", and "count" how often.
func TestStories(t *testing.T) {
	fixture.PlayStories(t, "testdata/stories", evictionResource, func(c *fixture.Cluster) *fixture.Story {
		o := newOthers(c)
		roomTimeout := time.Duration(0)
		acts := map[string]func(words ...string) string{
			"state":   func(...string) string { return o.state() },
			"asked":   func(...string) string { return strings.Join(o.asked, " ") + "\n" },
			"count":   func(...string) string { return fmt.Sprintln(len(o.asked)) },
			"whole":   func(...string) string { return o.whole() },
			"contest": func(...string) string { return o.contest() },
		}
		for name, act := range o.acts() {
			acts[name] = func(words ...string) string { act(words...); synctest.Wait(); return "" }
		}
		return &fixture.Story{Stable: true, Restart: func() {}, Further: acts,
			Option: func(_, value string) { roomTimeout = patches.Duration(c.T, value) },
			Start: func() (*fixture.Reconciles, func()) {
				return &fixture.Reconciles{}, fixture.StartNew(c, evictionresponder.New, options(t, c),
					func(options *evictionresponder.Options) { options.RoomTimeout = roomTimeout })
			}}
	}, cloneSetResource)
}

func (o *others) acts() map[string]func(words ...string) {
	change := func(set, patch string) {
		_, err := o.sets.Patch(o.T.Context(), set, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		o.Must(err)
	}
	return map[string]func(words ...string){
		"pod": func(words ...string) { o.pod(words[0], patches.Number(o.T, words[1])) },
		"more": func(words ...string) {
			set, err := o.sets.Get(o.T.Context(), words[0], metav1.GetOptions{})
			o.Must(err)
			o.podOf(set, words[1])
			o.KubeletStep()
			o.KubeletStep()
		},
		"surge":         func(words ...string) { change(words[0], `{"spec":{"updateStrategy":{"maxSurge":`+words[1]+`}}}`) },
		"replicas":      func(words ...string) { change(words[0], `{"spec":{"replicas":`+words[1]+`}}`) },
		"other-set":     func(words ...string) { o.replaceSet(words[0]) },
		"room":          func(...string) { o.makeRoom() },
		"evict":         func(words ...string) { o.evictAs(words[len(words)-1], words[0]) },
		"turn":          func(words ...string) { o.turn(words[0], evictionresponder.ResponderState(words[1])) },
		"gone":          func(words ...string) { o.Must(o.evictions.Delete(o.T.Context(), words[0], metav1.DeleteOptions{})) },
		"answer":        func(words ...string) { o.answer(words...) },
		"before-report": func(words ...string) { o.beforeReport(words[0]) },
	}
}

// replaceSet puts another CloneSet in the place of one.
func (o *others) replaceSet(name string) {
	o.T.Helper()
	set, err := o.sets.Get(o.T.Context(), name, metav1.GetOptions{})
	o.Must(err)
	o.Must(o.sets.Delete(o.T.Context(), name, metav1.DeleteOptions{}))
	set.ObjectMeta = metav1.ObjectMeta{Name: name}
	_, err = o.sets.Create(o.T.Context(), set, metav1.CreateOptions{})
	o.Must(err)
}

// answer is what the API server says when the responder asks to evict a pod. What it asks must be about that very pod.
func (o *others) answer(words ...string) {
	o.T.Helper()
	var answer error
	switch words[0] {
	case "denied": // by a budget, with a Retry-After
		answer = denied(int(patches.Duration(o.T, words[1]).Seconds()))
	case "forbidden":
		answer = apierrors.NewForbidden(corev1.Resource("pods"), "web", errors.New("not on Fridays"))
	case "conflict":
		answer = apierrors.NewConflict(corev1.Resource("pods"), "web", errors.New("changed"))
	}
	begin := time.Now()
	o.asked = nil
	o.FailBefore(func(r fakecluster.Request) error {
		if r.User != fixture.ControllerUser || r.String() != "create pods/eviction" {
			return nil
		}
		o.asked = append(o.asked, time.Since(begin).Truncate(time.Second).String())
		var eviction policyv1.Eviction
		err := json.Unmarshal(r.Body, &eviction)
		if err != nil || eviction.DeleteOptions.Preconditions == nil || eviction.DeleteOptions.Preconditions.UID == nil {
			o.T.Errorf("error %v, and %s has no UID", err, r.Body)
		}
		return answer
	})
}

// denied is what budgets answer, with a Retry-After of so many seconds.
func denied(seconds int) error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", seconds)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause, Message: "The budget web needs 1 healthy pod"}}
	return err
}

// beforeReport changes the Eviction web just before the next report.
func (o *others) beforeReport(what string) {
	once, _ := fixture.Once(fixture.Fail("patch evictions/status", fixture.ErrInternal))
	o.FailBefore(func(r fakecluster.Request) error {
		if once(r) == nil { // it is another request, which does not fail
			return nil
		}
		o.asked = append(o.asked, what)
		if what == "places" {
			o.status("web", map[string]any{"status": map[string]any{"responders": []any{
				map[string]any{"name": evictionresponder.ResponderName, "startTime": metav1.Now()},
				map[string]any{"name": "imperative-eviction.k8s.io/evictor"}}}})
			return nil
		}
		o.Hold("evictions")
		o.Must(o.evictions.Delete(o.T.Context(), "web", metav1.DeleteOptions{}))
		o.evictAs("web", "other")
		return nil
	})
}

// contest has another writer replace the message of each report, and remove its time, for an hour. It shows how many reports there were.
func (o *others) contest() string {
	reports, answered := 0, 0
	for i := range 3600 {
		if reports = o.Count(fixture.ControllerUser)["patch evictions/status"]; reports > answered {
			o.status("web", map[string]any{"status": map[string]any{"responders": []any{map[string]any{"name": "imperative-eviction.k8s.io/evictor"},
				map[string]any{"name": evictionresponder.ResponderName, "startTime": metav1.Now(), "message": fmt.Sprint("nonsense ", i)}}}})
			answered = reports
		}
		o.Sleep("1s")
	}
	return fmt.Sprintln(reports)
}

// whole is the whole status of the Eviction web, with fields that the responder does not know.
func (o *others) whole() string {
	o.T.Helper()
	data, err := yaml.Marshal(o.Raw()["status"])
	o.Must(err)
	return string(data)
}

func (o *others) state() string {
	o.T.Helper()
	var lines []string
	for _, pod := range o.Pods() {
		line := "pod " + pod.Name
		if pod.DeletionTimestamp != nil {
			line += ", leaving"
		}
		if pod.Annotations[noteKey] != "" {
			line += ", noted"
		}
		lines = append(lines, line)
	}
	list, err := o.evictions.List(o.T.Context(), metav1.ListOptions{})
	o.Must(err)
	for _, eviction := range list.Items {
		for _, r := range eviction.Status.Responders {
			line := fmt.Sprintf("Eviction %s, %s:", eviction.Name, r.Name)
			if r.Message != nil {
				line += " " + *r.Message
			}
			if r.CompletionTime != nil {
				line += ", through"
			}
			if r.HeartbeatTime != nil || r.Message != nil {
				lines = append(lines, line)
			}
		}
	}
	return strings.Join(append(lines, ""), "\n")
}
