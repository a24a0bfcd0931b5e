package app

import (
	"context"
	"sync"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	distributionclient "github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/client"
)

// caches are those of the kinds that several controllers read. Each is filled
// once, and only when a controller asks for it.
type caches struct {
	core         informers.SharedInformerFactory
	workloads    client.Interface
	distribution distributionclient.Interface
	namespace    string

	lock    sync.Mutex
	custom  map[string]cache.SharedIndexInformer // by resource
	started map[string]bool
	running sync.WaitGroup
}

func (m *Manager) newCaches(config *rest.Config) (*caches, error) {
	core, err := kubernetesClient(config, "caches")
	if err != nil {
		return nil, err
	}
	c := &caches{
		core: informers.NewSharedInformerFactoryWithOptions(core, 0,
			informers.WithNamespace(m.config.Namespace), informers.WithTransform(workloads.Trim)),
		namespace: m.config.Namespace, custom: map[string]cache.SharedIndexInformer{}, started: map[string]bool{},
	}
	if c.workloads, err = workloadsClient(config, "caches"); err != nil {
		return nil, err
	}
	c.distribution, err = distributionclient.NewForConfig(withAgent(config, "caches"))
	return c, err
}

func (c *caches) pods() cache.SharedIndexInformer { return c.core.Core().V1().Pods().Informer() }

func (c *caches) nodes() cache.SharedIndexInformer { return c.core.Core().V1().Nodes().Informer() }

func (c *caches) claims() cache.SharedIndexInformer {
	return c.core.Core().V1().PersistentVolumeClaims().Informer()
}

func (c *caches) revisions() cache.SharedIndexInformer {
	return c.core.Apps().V1().ControllerRevisions().Informer()
}

func (c *caches) cloneSets() cache.SharedIndexInformer {
	return c.once("clonesets", func() cache.SharedIndexInformer {
		return client.NewCloneSetInformer(c.workloads, c.namespace, 0, cache.Indexers{})
	})
}

func (c *caches) statefulSets() cache.SharedIndexInformer {
	return c.once("statefulsets", func() cache.SharedIndexInformer {
		return client.NewStatefulSetInformer(c.workloads, c.namespace, 0, cache.Indexers{})
	})
}

func (c *caches) imagePullJobs() cache.SharedIndexInformer {
	return c.once("imagepulljobs", func() cache.SharedIndexInformer {
		return distributionclient.NewImagePullJobInformer(c.distribution, c.namespace, 0, cache.Indexers{})
	})
}

func (c *caches) nodeImages() cache.SharedIndexInformer {
	return c.once("nodeimages", func() cache.SharedIndexInformer {
		return distributionclient.NewNodeImageInformer(c.distribution, 0, cache.Indexers{})
	})
}

// once makes the informer of a custom resource when it is asked for first.
func (c *caches) once(resource string, made func() cache.SharedIndexInformer) cache.SharedIndexInformer {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.custom[resource] == nil {
		c.custom[resource] = made()
		_ = c.custom[resource].SetTransform(workloads.Trim) // fails only once it runs
	}
	return c.custom[resource]
}

// run fills the caches that have been asked for, until the context is done.
func (c *caches) run(ctx context.Context) {
	c.core.StartWithContext(ctx)
	c.lock.Lock()
	defer c.lock.Unlock()
	for resource, informer := range c.custom {
		if !c.started[resource] {
			c.started[resource] = true
			c.running.Go(func() { informer.RunWithContext(ctx) })
		}
	}
}

// wait waits for the end of the caches. The context of run is done.
func (c *caches) wait() {
	c.core.Shutdown()
	c.running.Wait()
}
