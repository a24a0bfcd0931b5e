// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"context"
	"math/rand/v2"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// growing is a seed whose CloneSet lacks pods and its revision.
const growing = 1

// If another revision has the name of the next one, the plan has the name that the controller comes to. (KC-19)
func TestTakenName(t *testing.T) {
	c := newCluster(t, rand.New(rand.NewPCG(growing, 1)))
	free := c.plan()
	other := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: free.Revisions.Create.Name}}
	c.createRevision(other)
	planned := c.plan()
	if name := planned.Revisions.Create.Name; name == other.Name {
		t.Errorf("revision %s is to be created, which another object has", name)
	}
	if len(planned.Create) == 0 || len(planned.Create) != len(free.Create) {
		t.Fatalf("%d pods are to be created, and %d with the name that was free", len(planned.Create), len(free.Create))
	}
	for _, creation := range planned.Create {
		if creation.Pod.Name != "web-*" {
			t.Errorf("new pod %s, whose name depends on the resource version that counts the collision", creation.Pod.Name)
		}
	}
	c.reconciled() // counts the collision
	c.reconciled()
	if _, err := c.kube.AppsV1().ControllerRevisions(key.Namespace).Get(t.Context(), planned.Revisions.Create.Name, metav1.GetOptions{}); err != nil {
		t.Errorf("the revision that was planned: %v", err)
	}
}

// The controller may create the revision while the plan is made: that is no collision. (KC-19)
func TestRevisionIsCreatedMeanwhile(t *testing.T) {
	c := newCluster(t, rand.New(rand.NewPCG(growing, 1)))
	wanted, meanwhile := c.plan(), false
	c.server.FailAfter(func(r fakecluster.Request) error {
		if r.User == "planner" && r.String() == "list controllerrevisions" && !meanwhile {
			meanwhile = true
			c.createRevision(wanted.Revisions.Create)
		}
		return nil
	})
	planned := c.plan()
	if planned.Revisions.Create != nil || planned.Revisions.Update.Name != wanted.Revisions.Create.Name {
		t.Errorf("revision %s is wanted and %v is to be created, want none: the controller has just created %s",
			planned.Revisions.Update.Name, planned.Revisions.Create, wanted.Revisions.Create.Name)
	}
	if got, want := planned.Rows(), wanted.Rows(); len(got) != len(want) || got[0] != want[0] {
		t.Errorf("rows %v, want %v", got, want)
	}
}

func (c *cluster) createRevision(r *appsv1.ControllerRevision) {
	c.t.Helper()
	if _, err := c.kube.AppsV1().ControllerRevisions(r.Namespace).Create(context.Background(), r, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
}
