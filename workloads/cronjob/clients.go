// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/apiwriter"
)

// jobClient writes the jobs of one kind, and reads them past the caches.
type jobClient interface {
	// create returns the resourceVersion of the write, as merge does.
	create(ctx context.Context, job apiwriter.Object) (resourceVersion string, err error)
	read(ctx context.Context, namespace, name string) (metav1.Object, error)
	merge(ctx context.Context, namespace, name string, data []byte) (resourceVersion string, err error)
	delete(ctx context.Context, namespace, name string, options metav1.DeleteOptions) error
}

// jobs reads and creates Jobs.
func jobs(o *Options) apiwriter.Resource {
	return apiwriter.Resource{Client: o.Kubernetes.BatchV1().RESTClient(), Name: string(resourceJobs)}
}

// batchJobs is the jobClient of Jobs, of which it reads the metadata alone.
type batchJobs struct {
	apiwriter.Resource
	kubernetes kubernetes.Interface
}

func (b batchJobs) create(ctx context.Context, job apiwriter.Object) (string, error) {
	return b.Create(ctx, job)
}

func (b batchJobs) read(ctx context.Context, namespace, name string) (metav1.Object, error) {
	return b.Read(ctx, namespace, name)
}

func (b batchJobs) merge(ctx context.Context, namespace, name string, data []byte) (string, error) {
	job := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	return b.Patch(ctx, job, "", types.MergePatchType, data)
}

func (b batchJobs) delete(ctx context.Context, namespace, name string, options metav1.DeleteOptions) error {
	return b.kubernetes.BatchV1().Jobs(namespace).Delete(ctx, name, options)
}

// typedJobs is the jobClient of custom resources.
type typedJobs[C typedClient[T], T apiwriter.Object] struct{ in func(namespace string) C }

// typedClient is what typedJobs asks of the typed client of a kind.
type typedClient[T apiwriter.Object] interface {
	Create(ctx context.Context, object T, opts metav1.CreateOptions) (T, error)
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (T, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
}

func typed[C typedClient[T], T apiwriter.Object](in func(namespace string) C) jobClient {
	return typedJobs[C, T]{in}
}

func (t typedJobs[C, T]) create(ctx context.Context, job apiwriter.Object) (string, error) {
	created, err := t.in(job.GetNamespace()).Create(ctx, job.(T), metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return created.GetResourceVersion(), nil
}

func (t typedJobs[C, T]) read(ctx context.Context, namespace, name string) (metav1.Object, error) {
	return t.in(namespace).Get(ctx, name, metav1.GetOptions{})
}

func (t typedJobs[C, T]) merge(ctx context.Context, namespace, name string, data []byte) (string, error) {
	job, err := t.in(namespace).Patch(ctx, name, types.MergePatchType, data, metav1.PatchOptions{})
	if err != nil {
		return "", err
	}
	return job.GetResourceVersion(), nil
}

func (t typedJobs[C, T]) delete(ctx context.Context, namespace, name string, options metav1.DeleteOptions) error {
	return t.in(namespace).Delete(ctx, name, options)
}
