package app

import (
	"context"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/workloads"
)

// caches are those of the core kinds that several controllers read. Each is
// filled once, and only when a controller asks for it.
type caches struct {
	factory informers.SharedInformerFactory
}

func (m *Manager) newCaches(config *rest.Config) (*caches, error) {
	client, err := kubernetesClient(config, "caches")
	if err != nil {
		return nil, err
	}
	return &caches{informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithNamespace(m.config.Namespace), informers.WithTransform(workloads.Trim))}, nil
}

func (c *caches) pods() cache.SharedIndexInformer { return c.factory.Core().V1().Pods().Informer() }
func (c *caches) claims() cache.SharedIndexInformer {
	return c.factory.Core().V1().PersistentVolumeClaims().Informer()
}
func (c *caches) revisions() cache.SharedIndexInformer {
	return c.factory.Apps().V1().ControllerRevisions().Informer()
}

// run fills the caches that have been asked for, until the context is done.
func (c *caches) run(ctx context.Context) { c.factory.StartWithContext(ctx) }

// wait waits for the end of the caches. The context of run is done.
func (c *caches) wait() { c.factory.Shutdown() }
