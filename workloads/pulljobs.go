// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	distributionclient "github.com/podwright/podwright/distribution/client"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/predownload"
)

// ImagePullJobs creates, finds and deletes the jobs that pull images to nodes
// ahead of an update. NewImagePullJobs makes one, for all workload controllers.
// Its methods are called by several goroutines.
type ImagePullJobs interface {
	// Owned names the jobs of the namespace that the owner with that UID
	// controls and that are not being deleted. It is called in every reconcile
	// and reads a cache.
	Owned(namespace string, owner types.UID) ([]string, error)
	// Create creates a job. It returns the API server's error, for which
	// functions such as apierrors.IsAlreadyExists hold.
	Create(ctx context.Context, job *distributionv1alpha1.ImagePullJob) error
	// Delete deletes a job that Owned has named. One that is gone already is
	// no error.
	Delete(ctx context.Context, namespace, name string) error
}

// NewImagePullJobs returns the ImagePullJobs that finds jobs in the cache of an
// informer, and writes with the client. The client package of the distribution
// kinds makes the informer. NewImagePullJobs adds an index to the informer, so that must not
// have been started before. The caller runs it, and waits until it is filled
// before a controller runs: jobs that the cache does not show are not deleted.
func NewImagePullJobs(c distributionclient.Interface, informer cache.SharedIndexInformer) (ImagePullJobs, error) {
	store, err := predownload.NewStore(c, informer)
	if err != nil {
		return nil, fmt.Errorf("workloads: %w", err)
	}
	return store, nil
}
