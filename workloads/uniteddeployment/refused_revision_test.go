// SPDX-License-Identifier: Apache-2.0

package uniteddeployment_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/uniteddeployment"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestRefusedRevision has a quota refuse the revision of a new template. Subsets follow the replicas and come back as they were. None is
// updated, and a condition says why. (CT-9)
func TestRefusedRevision(t *testing.T) {
	for kind := range resources {
		t.Run("CT-9: "+string(kind), func(t *testing.T) {
			play(t, func(t *testing.T, w *world) {
				w.kind = kind
				sets := newClient(t, w.Server, fixture.TestUser).UnitedDeployments(fixture.Web.Namespace)
				before, err := sets.Create(t.Context(), newSet(t, kind, "web", "replicas: 4"), metav1.CreateOptions{})
				w.Must(err)
				w.Sleep("1m")
				w.FailBefore(fixture.Fail("create controllerrevisions", fixture.ErrQuota))
				const image = `[{"op":"replace","path":"/spec/template/FIELD/spec/template/spec/containers/0/image","value":"nginx:2"},{"op":"replace","path":"/spec/replicas","value":6}]`
				_, err = sets.Patch(t.Context(), "web", types.JSONPatchType, []byte(strings.Replace(image, "FIELD", fields[kind], 1)), metav1.PatchOptions{})
				w.Must(err)
				w.Must(w.Kube.CoreV1().RESTClient().Delete().AbsPath(path(kind, workloadsOf(w.Cluster, kind)[0].Name)...).Do(t.Context()).Error())
				w.Sleep("1h")
				all := workloadsOf(w.Cluster, kind)
				if len(all) != 2 || all[0].subset() != "a" || all[1].subset() != "b" {
					t.Fatalf("%d workloads, want one of each subset", len(all))
				}
				for _, c := range all {
					if c.Spec.Replicas != 3 || c.image() != "nginx:1" {
						t.Errorf("subset %s has %d pods of %s, want 3 of nginx:1", c.subset(), c.Spec.Replicas, c.image())
					}
				}
				set, err := sets.Get(t.Context(), "web", metav1.GetOptions{})
				w.Must(err)
				var told string
				for _, c := range set.Status.Conditions {
					if c.Type == v1alpha1.SubsetUpdated && c.Status == "False" {
						told = c.Message
					}
				}
				if set.Status.ObservedGeneration != before.Generation || !strings.Contains(told, "exceeded quota") {
					t.Errorf("observed generation %d, want %d; condition %q", set.Status.ObservedGeneration, before.Generation, told)
				}
				if events := strings.Join(w.Events.All(), "\n"); !strings.Contains(events, uniteddeployment.ReasonFailedRevisionProvision) {
					t.Errorf("no event says that the revision is refused: %s", events)
				}
				w.heal()
				w.Sleep("10m")
				for _, c := range workloadsOf(w.Cluster, kind) {
					if c.image() != "nginx:2" {
						t.Errorf("the quota allows it again, and subset %s has %s", c.subset(), c.image())
					}
				}
			})
		})
	}
}
