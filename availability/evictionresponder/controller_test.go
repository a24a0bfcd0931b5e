// SPDX-License-Identifier: Apache-2.0

package evictionresponder_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/podwright/podwright/availability/evictionresponder"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// names fails unless these are the pods that are not being deleted.
func (o *others) names(want string) {
	o.T.Helper()
	var names []string
	for _, pod := range o.Pods() {
		if pod.DeletionTimestamp == nil {
			names = append(names, pod.Name)
		}
	}
	if got := strings.Join(names, " "); got != want {
		o.T.Errorf("pods %q, want %q", got, want)
	}
}

// says fails unless the report begins so.
func (o *others) says(name, want string) {
	o.T.Helper()
	if got := o.reported(name); !strings.HasPrefix(got, want) {
		o.T.Errorf("Eviction %s: %q, want %q", name, got, want)
	}
}

// EVR-5, EVR-7, EVR-8, EVR-2: the CloneSet makes room, the pod goes, and the responder is through.
func TestRoomFirst(t *testing.T) {
	play(t, func(o *others) {
		o.pod("web", 1)
		o.ForgetRequests()
		o.evict("web")
		o.Sleep("1s")
		o.says("web", "CloneSet web has 0 of 1 pods available beside this one")
		o.sent("1 patch evictions/status", "1 patch pods")

		o.makeRoom()
		o.Sleep("1m")
		o.names("web web-new")
		o.sent() // the new one is not ready
		o.KubeletStep()
		o.KubeletStep()
		o.Sleep("1s")
		o.names("web-new")
		o.sent("1 create pods/eviction", "1 patch evictions/status")

		o.KubeletStep()
		o.Sleep("30s")
		o.says("web", "through: the pod is gone")
		o.sent("1 get pods", "1 patch evictions/status")
		o.turn("web", evictionresponder.ResponderCompleted)
		o.Sleep("1h")
		o.sent()
	})
}

// EVR-11: what others have written stays, known or not.
func TestOnlyTheOwnReport(t *testing.T) {
	play(t, func(o *others) {
		o.pod("web", 1)
		read := func() map[string]any {
			raw := fixture.Connect(t, o.Server, fixture.TestUser, dynamic.NewForConfig)
			object, err := raw.Resource(evictionresponder.SchemeGroupVersion.WithResource("evictions")).Namespace(namespace).Get(t.Context(), "web", metav1.GetOptions{})
			o.Must(err)
			return object.Object["status"].(map[string]any)
		}
		o.Hold("evictions")
		o.evict("web")
		before := read()
		o.Release("evictions")
		o.Sleep("1s")
		after := read()
		own := after["responders"].([]any)[1].(map[string]any)
		if own["heartbeatTime"] == nil || own["message"] == nil {
			t.Fatalf("no report: %v", own)
		}
		delete(own, "heartbeatTime")
		delete(own, "message")
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("the rest of the status (-before +after):\n%s", diff)
		}
	})
}

// EVR-11: the entries have changed places since they were read.
func TestReportToAnotherEntry(t *testing.T) {
	play(t, func(o *others) {
		o.pod("web", 1)
		once, happened := fixture.Once(fixture.Fail("patch evictions/status", fixture.ErrInternal))
		o.FailBefore(func(r fakecluster.Request) error {
			if once(r) != nil { // no error, but entries that have changed places
				o.status("web", map[string]any{"status": map[string]any{"responders": []any{
					map[string]any{"name": evictionresponder.ResponderName, "startTime": metav1.Now()}, map[string]any{"name": "imperative-eviction.k8s.io/evictor"}}}})
			}
			return nil
		})
		o.evict("web")
		o.Sleep("10s")
		if !happened() {
			t.Fatal("the story did not come so far")
		}
		eviction, err := o.evictions.Get(t.Context(), "web", metav1.GetOptions{})
		o.Must(err)
		if r := eviction.Status.Responders; r[0].HeartbeatTime == nil || r[1].HeartbeatTime != nil || r[1].Message != nil {
			t.Errorf("reports %+v", r)
		}
	})
}

// asks returns when the responder asked to evict a pod, since a time; what it asks must be about that very pod.
func (o *others) asks(answer func() error) (at func() []time.Duration) {
	begin := time.Now()
	var times []time.Duration
	o.FailBefore(func(r fakecluster.Request) error {
		if r.User != fixture.ControllerUser || r.String() != "create pods/eviction" {
			return nil
		}
		times = append(times, time.Since(begin).Truncate(time.Second))
		var eviction policyv1.Eviction
		if err := json.Unmarshal(r.Body, &eviction); err != nil || eviction.DeleteOptions.Preconditions == nil || eviction.DeleteOptions.Preconditions.UID == nil {
			o.T.Errorf("error %v, and %s has no UID", err, r.Body)
		}
		return answer()
	})
	return func() []time.Duration { return times }
}

// denied is what budgets answer, with a Retry-After of so many seconds.
func denied(seconds int) error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", seconds)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause, Message: "The budget web needs 1 healthy pod"}}
	return err
}

// EVR-7, EVR-8: a budget denies the eviction for a while. The pod is noted, and asked for again at longer and longer intervals.
func TestDenied(t *testing.T) {
	for _, test := range []struct {
		name       string
		retryAfter int
		want       []time.Duration
	}{
		{"as the responder likes", 1, []time.Duration{0, 5, 15, 35, 75, 135, 195, 255}},
		{"as the budget says", 30, []time.Duration{0, 30, 60, 90, 130, 190, 250}},
		{"no later than that", 3600, []time.Duration{0, 300}},
	} {
		t.Run(test.name, func(t *testing.T) {
			play(t, func(o *others) {
				o.pod("web", 0) // there will be no room
				asked := o.asks(func() error { return denied(test.retryAfter) })
				o.evict("web")
				o.Sleep("1s")
				if o.Pods()[0].Annotations[noteKey] == "" {
					t.Error("the pod is not noted")
				}
				o.Sleep("5m")
				for i := range test.want {
					test.want[i] *= time.Second
				}
				if diff := cmp.Diff(test.want, asked()); diff != "" {
					t.Errorf("asked (-want +got):\n%s", diff)
				}
				o.says("web", "the pod may not be evicted yet: Cannot evict pod as it would violate the pod's disruption budget.")
				o.FailBefore(nil)
				o.Sleep("5m")
				o.names("")
				if events := o.Events.All(); len(events) > 0 {
					t.Errorf("a budget is no reason for events: %q", events)
				}
			})
		})
	}
}

// EVR-8, EVR-10: refusals that are no budget's are told, once, and the heartbeat goes on.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want []string
	}{
		{"by a webhook", apierrors.NewForbidden(corev1.Resource("pods"), "web", errors.New("not on Fridays")),
			[]string{`Warning EvictionRefused: Eviction web: the pod may not be evicted yet: pods "web" is forbidden: not on Fridays`}},
		{"the pod has changed", apierrors.NewConflict(corev1.Resource("pods"), "web", errors.New("changed")), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			play(t, func(o *others) {
				o.pod("web", 0)
				asked := o.asks(func() error { return test.err })
				o.evict("web")
				o.Sleep("1h")
				if diff := cmp.Diff(test.want, o.Events.All()); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
				if n := len(asked()); n < 55 || n > 65 {
					t.Errorf("asked %d times in an hour", n)
				}
				o.says("web", "the pod may not be evicted yet: ")
				if n := o.Count(fixture.ControllerUser)["patch evictions/status"]; n < 12 || n > 13 {
					t.Errorf("%d reports in an hour", n)
				}
				if o.Pods()[0].Annotations[noteKey] != "" {
					t.Error("the pod is noted")
				}
			})
		})
	}
}

// EVR-6: room that never comes is waited for so long.
func TestNoRoom(t *testing.T) {
	play(t, func(o *others) {
		o.pod("web", 1)
		o.evict("web")
		o.Sleep("4m59s")
		o.names("web")
		o.Sleep("2s")
		o.names("")
	}, func(o *evictionresponder.Options) { o.RoomTimeout = 5 * time.Minute })
}

// EVR-9: the eviction is not wanted any more.
func TestCanceled(t *testing.T) {
	play(t, func(o *others) {
		o.pod("web", 1)
		o.evict("web")
		o.Sleep("1m")
		o.ForgetRequests()
		o.turn("web", evictionresponder.ResponderCanceled)
		o.Sleep("1s")
		o.sent("1 patch pods")
		if o.Pods()[0].Annotations[noteKey] != "" {
			t.Error("the note is still there")
		}
		o.makeRoom()
		o.Sleep("1h")
		o.names("web")
		o.sent()
	})
}

// EVR-2: a cache that does not have the pod yet completes nothing.
func TestPodThatTheCacheDoesNotShow(t *testing.T) {
	play(t, func(o *others) {
		o.Hold("pods")
		o.pod("web", 1)
		o.evict("web")
		o.Sleep("1s")
		o.says("web", "CloneSet web has 0 of 1 pods available beside this one")
		o.names("web")
	})
}

// EVR-5: two pods of a CloneSet go one after the other, each into room of its own.
func TestOneAfterTheOther(t *testing.T) {
	play(t, func(o *others) {
		o.pod("web-a", 1)
		set, err := o.sets.Get(t.Context(), "web-a", metav1.GetOptions{})
		o.Must(err)
		set.Spec.Replicas = new(int32(2))
		set, err = o.sets.Update(t.Context(), set, metav1.UpdateOptions{})
		o.Must(err)
		more := func(name string) {
			o.podOf(set, name)
			o.KubeletStep()
			o.KubeletStep()
			o.Sleep("10s")
		}
		more("web-b")
		o.evict("web-b")
		o.evict("web-a")
		o.Sleep("10s")
		o.names("web-a web-b")
		more("web-c")
		o.names("web-b web-c")
		o.Sleep("5m")
		o.names("web-b web-c")
		more("web-d")
		o.names("web-c web-d")
	})
}

// EVR-5: what a CloneSet asks for changes while one of its pods waits.
func TestCloneSetChanges(t *testing.T) {
	for name, change := range map[string]string{"no surge any more": `{"spec":{"updateStrategy":{"maxSurge":0}}}`, "scaled in": `{"spec":{"replicas":0}}`} {
		t.Run(name, func(t *testing.T) {
			play(t, func(o *others) {
				o.pod("web", 1)
				o.evict("web")
				o.Sleep("1m")
				o.names("web")
				_, err := o.sets.Patch(t.Context(), "web", types.MergePatchType, []byte(change), metav1.PatchOptions{})
				o.Must(err)
				o.Sleep("1s")
				o.names("")
			})
		})
	}
}
