// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/images"
)

// copier copies pull secrets to the namespace in which the agents of nodes can read them. Jobs that
// name the same secret share the copy; for each copy one of them has its turn.
type copier struct {
	kubernetes kubernetes.Interface
	turns      [32]chan struct{} // by the names of copies; the goroutine that has put something in has the turn
	looks      apiwriter.Last[map[string]Look]
	lock       sync.Mutex // of changes of looks
}

func newCopier(client kubernetes.Interface) *copier {
	c := &copier{kubernetes: client}
	for i := range c.turns {
		c.turns[i] = make(chan struct{}, 1)
	}
	return c
}

// turn waits until no other goroutine writes a copy, and returns what ends the turn.
func (c *copier) turn(ctx context.Context, copied string) (end func(), err error) {
	turn := c.turns[images.Spread(int32(len(c.turns)), copied)]
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// remember remembers what came of a look at a secret that a job names.
func (c *copier) remember(job types.NamespacedName, name string, look Look) {
	c.lock.Lock()
	defer c.lock.Unlock()
	looks := maps.Clone(c.looks.Get(job)) // a snapshot may hold the old ones
	if looks == nil {
		looks = map[string]Look{}
	}
	looks[name] = look
	c.looks.Set(job, looks)
}

func (c *copier) copies() typedcorev1.SecretInterface {
	return c.kubernetes.CoreV1().Secrets(v1alpha1.DaemonConfigNamespace)
}

// copy looks at a secret of a job, and makes its copy what it should be. If that
// cannot be, it remembers why: there is no error that would have it tried again at
// once.
func (c *copier) copy(ctx context.Context, job types.NamespacedName, name string, now time.Time) (version string, err error) {
	source := types.NamespacedName{Namespace: job.Namespace, Name: name}
	copied, _ := images.CopyName(source)
	end, err := c.turn(ctx, copied)
	if err != nil {
		return "", err
	}
	defer end()
	secret, err := apiwriter.Found(c.kubernetes.CoreV1().Secrets(source.Namespace).Get(ctx, source.Name, metav1.GetOptions{}))
	if apierrors.IsForbidden(err) {
		c.remember(job, name, Look{At: now, Problem: "the manager may not read it"})
		return "", nil
	}
	if err != nil {
		c.trying(job, name, "read", err)
		return "", fmt.Errorf("read pull secret %s: %w", source, err)
	}
	present, err := apiwriter.Found(c.copies().Get(ctx, copied, metav1.GetOptions{}))
	var planned copyChange
	if err == nil {
		planned = planCopy(source, secret, present, job)
		version, err = c.change(ctx, present, planned)
	}
	switch {
	case apierrors.IsForbidden(err):
		planned.problem = "the manager may not copy it to namespace " + v1alpha1.DaemonConfigNamespace
	case apierrors.IsNotFound(err):
		planned.problem = "namespace " + v1alpha1.DaemonConfigNamespace + ", in which nodes find it, does not exist"
	case apiwriter.Final(err):
		planned.problem = fmt.Sprintf("its copy in namespace %s is refused: %v", v1alpha1.DaemonConfigNamespace, err)
	case err != nil:
		c.trying(job, name, "copied", err)
		return "", fmt.Errorf("copy pull secret %s: %w", source, err)
	}
	c.remember(job, name, Look{At: now, Problem: planned.problem})
	return version, nil
}

// trying remembers a secret that could not be read yet, and why the last try failed. The words do not differ from one try to
// the next. (IMG-1.6)
func (c *copier) trying(job types.NamespacedName, name, done string, err error) {
	if !c.looks.Get(job)[name].At.IsZero() {
		return
	}
	reason := string(apierrors.ReasonForError(err))
	if reason == "" {
		reason = "no answer"
	}
	c.remember(job, name, Look{Trying: fmt.Sprintf("it cannot be %s (%s), and is tried again", done, reason)})
}

// release takes a job out of those that need a copy, which goes with the last of them.
func (c *copier) release(ctx context.Context, job types.NamespacedName, copied string) (version string, err error) {
	end, err := c.turn(ctx, copied)
	if err != nil {
		return "", err
	}
	defer end()
	present, err := apiwriter.Found(c.copies().Get(ctx, copied, metav1.GetOptions{}))
	if err == nil && present != nil {
		version, err = c.change(ctx, present, planRelease(present, job))
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return "", fmt.Errorf("release pull secret %s/%s: %w", v1alpha1.DaemonConfigNamespace, copied, err)
	}
	return version, nil
}

// change applies a change of a copy, and returns the version of the write; empty
// if nothing was written that is there.
func (c *copier) change(ctx context.Context, present *corev1.Secret, planned copyChange) (version string, err error) {
	if planned.remove && planned.want != nil {
		// What would be refused takes nothing away from the nodes. That the name is taken is what the API server says last.
		_, err := c.copies().Create(ctx, planned.want, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil && !apierrors.IsAlreadyExists(err) && !apierrors.IsBadRequest(err) { // 400: a webhook takes no dry runs
			return "", err
		}
	}
	if planned.remove {
		only := &metav1.Preconditions{UID: &present.UID, ResourceVersion: &present.ResourceVersion}
		if err := c.copies().Delete(ctx, present.Name, metav1.DeleteOptions{Preconditions: only}); err != nil && !apierrors.IsNotFound(err) {
			return "", err
		}
		present = nil
	}
	if planned.want == nil {
		return "", nil
	}
	var written *corev1.Secret
	if present == nil {
		written, err = c.copies().Create(ctx, planned.want, metav1.CreateOptions{})
	} else {
		written, err = c.copies().Update(ctx, planned.want, metav1.UpdateOptions{})
	}
	if err != nil {
		return "", err
	}
	return written.ResourceVersion, nil
}
