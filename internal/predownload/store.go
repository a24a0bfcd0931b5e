// SPDX-License-Identifier: Apache-2.0

package predownload

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/caches"
)

// Jobs creates, finds and deletes image pull jobs. See Store for what the
// methods promise.
type Jobs interface {
	Owned(namespace string, owner types.UID) ([]string, error)
	Create(ctx context.Context, job *distributionv1alpha1.ImagePullJob) error
	Delete(ctx context.Context, namespace, name string) error
}

// Store is the Jobs that finds jobs in an informer's cache and writes to the
// API server. It is safe for use by several goroutines.
type Store struct {
	client client.Interface
	jobs   caches.Reader
}

const pullJobs podwright.Resource = "imagepulljobs"

// NewStore returns a store over an informer of ImagePullJobs, to which it adds
// an index. The caller runs the informer; it must not have been started before.
// While it is not filled, no job is found.
func NewStore(c client.Interface, informer cache.SharedIndexInformer) (*Store, error) {
	if c == nil || informer == nil {
		return nil, errors.New("image pull jobs need a client of the distribution kinds and an informer of ImagePullJobs, found nil")
	}
	if err := caches.AddIndexes(informer, caches.ByOwner); err != nil {
		return nil, fmt.Errorf("ImagePullJobs: %w", err)
	}
	return &Store{client: c, jobs: caches.Reader{pullJobs: informer.GetIndexer()}}, nil
}

// JobsOf names the jobs of a workload of a kind, if there are jobs and it is
// enabled to pull images ahead.
func JobsOf(jobs Jobs, enabled bool, workload metav1.Object, kind string) ([]string, error) {
	if jobs == nil || !enabled {
		return nil, nil
	}
	names, err := jobs.Owned(workload.GetNamespace(), workload.GetUID())
	if err != nil {
		return nil, fmt.Errorf("find the image pull jobs of %s %s/%s: %w", kind, workload.GetNamespace(), workload.GetName(), err)
	}
	return names, nil
}

// Owned names the jobs of the namespace that the owner with that UID controls
// and that are not being deleted, sorted. It sends no request.
func (s *Store) Owned(namespace string, owner types.UID) ([]string, error) {
	found, err := caches.ControlledBy[*distributionv1alpha1.ImagePullJob](s.jobs, pullJobs, namespace, owner)
	if err != nil {
		return nil, fmt.Errorf("read ImagePullJobs: %w", err)
	}
	var names []string
	for _, job := range found {
		if job.Namespace == namespace && job.DeletionTimestamp == nil {
			names = append(names, job.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Create creates a job and returns the API server's error.
func (s *Store) Create(ctx context.Context, job *distributionv1alpha1.ImagePullJob) error {
	_, err := s.client.ImagePullJobs(job.Namespace).Create(ctx, job, metav1.CreateOptions{})
	return err
}

// Delete deletes the job that the cache holds under that name, and no other one
// that has taken its name since. A job that is gone already is no error.
func (s *Store) Delete(ctx context.Context, namespace, name string) error {
	job, err := apiwriter.Found(caches.Get[*distributionv1alpha1.ImagePullJob](s.jobs, pullJobs, namespace, name))
	if job == nil {
		return err
	}
	err = s.client.ImagePullJobs(namespace).Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &job.UID}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
