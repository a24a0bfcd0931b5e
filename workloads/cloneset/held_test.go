// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// CS-40: an update that a pod holds up says after a minute which one, why, and since when, until it goes on.
func TestHeldUp(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(3, `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":1}}}`)
		c.Settle()
		_, stop := c.start()
		defer stop()
		began := time.Now()
		c.SetImage("nginx:bad")
		c.Sleep("2s")
		c.KubeletStep()
		c.Sleep("1s")
		broken := ""
		for _, pod := range c.Pods() {
			if pod.Spec.Containers[0].Image == "nginx:bad" {
				broken = pod.Name
			}
		}
		c.PatchPod(broken, `{"status":{"containerStatuses":[{"name":"main","image":"nginx:bad","imageID":"sha256:nginx:bad","state":{"waiting":{"reason":"ImagePullBackOff","message":"not found"}}}]}}`, "status")
		c.ExpectHeldUp(fmt.Sprintf("Image: pod %s: container main of image nginx:bad: ImagePullBackOff: not found; maxUnavailable 1: 1 pod at the update revision is unavailable already", broken))
		condition := statuses.Find(&c.get().Status, v1alpha1.CloneSetConditionHeldUp)
		if since := condition.LastTransitionTime.Sub(began); since < 0 || since > 10*time.Second {
			t.Errorf("since %s, %s after the update began", condition.LastTransitionTime, since)
		}

		c.SetImage("nginx:2")
		for range 20 {
			c.Sleep("2s")
			c.KubeletStep()
		}
		if got := c.HeldUp(); got != "" || c.get().Status.UpdatedReadyReplicas != 3 {
			t.Errorf("after another template: %s, status %+v", got, c.get().Status)
		}
	})
}

// CS-40: a pause is told, and is over at once; what users asked for, a partition, is nothing that holds up.
func TestHeldUpByThePause(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(3, `{"spec":{"updateStrategy":{"partition":2,"paused":true}}}`)
		c.Settle()
		_, stop := c.start()
		defer stop()
		c.SetImage("nginx:2")
		c.ExpectHeldUp("Paused: updateStrategy.paused is true")
		c.Edit(`{"spec":{"updateStrategy":{"paused":false}}}`)
		for range 5 {
			c.KubeletStep()
			c.Sleep("2s")
		}
		if c.Sleep("10m"); c.HeldUp() != "" || c.get().Status.UpdatedReadyReplicas != 1 {
			t.Errorf("beyond the partition: %s, status %+v", c.HeldUp(), c.get().Status)
		}
	})
}

// CS-41: a CloneSet is not held up if its pods are updated one after the other, each in less than a minute. The status costs no
// more writes.
func TestNotHeldUp(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(10, `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":1}}}`)
		c.Settle()
		_, stop := c.start()
		defer stop()
		c.SetImage("nginx:2")
		for range 25 {
			c.Sleep("10s")
			if got := c.HeldUp(); got != "" {
				t.Fatalf("held up: %s", got)
			}
			c.KubeletStep()
		}
		if status := c.get().Status; status.UpdatedReadyReplicas != 10 || status.Conditions != nil {
			t.Errorf("status %+v", status)
		}
	})
}

// CS-40: a controller that has begun anew goes on with what the status says.
func TestHeldUpAfterARestart(t *testing.T) {
	w := newScenario(t)
	w.Spec("replicas=1", "image=nginx:1")
	w.settle()
	w.Spec("paused=true", "image=nginx:2")
	w.settle()
	s := w.snapshot()
	since := metav1.NewTime(w.Now.Add(-time.Hour))
	set := s.Set.DeepCopy()
	statuses.Put(&set.Status, v1alpha1.CloneSetConditionHeldUp, "True", "Paused", "updateStrategy.paused is true", since.Time)
	s.Set = set
	if plan := NewPlan(s); plan.Status != nil {
		t.Errorf("status %+v", plan.Status)
	}
}

// CS-40: a stored hook of a label that no pod can have is told, with its field and its value.
func TestHeldUpByAHook(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(2, "")
		c.Settle()
		_, stop := c.start()
		defer stop()
		c.Edit(`{"spec":{"lifecycle":{"preDelete":{"labelsHandler":{"hold me":"true"}}}}}`)
		c.Sleep("2m")
		if got, want := c.HeldUp(), "BadValue: spec.lifecycle.preDelete.labelsHandler[hold me] is hold me: no pod can have this label: "; !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
		c.Edit(`{"spec":{"lifecycle":null}}`)
		if c.Sleep("1m"); c.HeldUp() != "" {
			t.Errorf("without the hook: %s", c.HeldUp())
		}
	})
}
