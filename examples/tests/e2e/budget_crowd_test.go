// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/testbed"
)

// Of 50 pods at least 40 are to be available. All at once, users evict half of them, update the others in place, twice, and delete those.
// They repeat each request until it is allowed, and two replicas of the webhooks are asked by turns. At least 40 pods are available at
// every moment, and all requests are carried out in the end. It is among TestFaults: the manager is another one meanwhile. (PUB-14, PUB-25)
func testManyDisruptionsAtOnce(t *testing.T, b *bed) {
	s := b.cloneSetFixture(t)
	s.Manager.Kill()
	s.Cleanup(s.revive)
	replicas, err := b.NewReplicas(2, "--leader-elect", "--feature-gates=SidecarTerminator=true,PodUnavailableBudgetUpdateGate=true")
	if err != nil {
		t.Fatal(err)
	}
	s.Cleanup(replicas.Close)
	for _, m := range replicas.All {
		if err := m.Start(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.webhooksAreCalled(s.Context()); err != nil {
		t.Fatal(err)
	}
	s.budget("web", 10)
	s.run(cloneSet("web", 50))
	s.awaitProtected("web")
	s.expect("web", 40, 60)
	var users errgroup.Group
	for i, pod := range s.owned("web") {
		if i%2 == 0 {
			users.Go(func() error { return s.insist(func() error { return s.evict(pod) }) })
			continue
		}
		for _, image := range []string{"next:1", "next:2"} {
			users.Go(func() error { return s.insist(func() error { return s.setImage(pod, "registry.example/"+image) }) })
		}
		users.Go(func() error {
			return s.insist(func() error {
				return s.Core.CoreV1().Pods(pod.Namespace).Delete(s.Context(), pod.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
			})
		})
	}
	if err := users.Wait(); err != nil {
		t.Error(err)
	}
	s.awaitSettled("web")
	s.keptBudget("web")
}

// insist does something again and again while it is denied. That a pod is gone, and another one has its name, is success.
func (s *cloneSetFixture) insist(do func() error) error {
	for {
		err := do()
		if err == nil || apierrors.IsNotFound(err) {
			return nil
		}
		if !apierrors.IsTooManyRequests(err) && !apierrors.IsForbidden(err) && !apierrors.IsConflict(err) {
			return err
		}
		select {
		case <-s.Context().Done():
			return fmt.Errorf("after %v: %w", testbed.Patience, err)
		case <-time.After(time.Second): // as long as users wait
		}
	}
}

// setImage updates a pod in place, as a client that knows no CloneSet.
func (s *cloneSetFixture) setImage(pod *corev1.Pod, image string) error {
	patch := fmt.Sprintf(`{"metadata":{"uid":%q},"spec":{"containers":[{"name":%q,"image":%q}]}}`, pod.UID, pod.Spec.Containers[0].Name, image)
	_, err := s.Core.CoreV1().Pods(pod.Namespace).Patch(s.Context(), pod.Name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}
