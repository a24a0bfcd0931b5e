// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/caches"
)

// Read is a resource that a kind reads through an informer.
type Read struct {
	// Resource names the cache, of which Object has the type of the objects.
	Resource podwright.Resource
	Object   runtime.Object
	// LiveReader reads the resource past all caches. It is given if the kind writes what
	// the cache holds: Reconcile waits until the cache shows that.
	LiveReader apiwriter.Live
	// Informer is the option in which the user shares an informer. If that is
	// nil, MakeInformer makes one, whose objects Trim trims, and it is set here.
	Informer     *cache.SharedIndexInformer
	MakeInformer func() cache.SharedIndexInformer
	// IsPartial says that it holds some objects of a namespace only, or those of another one than Options.Namespace. Then
	// Options.Informers is not asked for it.
	IsPartial bool
	// Trim defaults to caches.Trim.
	Trim cache.TransformFunc
	// Indexes are those by which the kind finds objects. Default: none.
	Indexes []podwright.Index

	// Fields are those that the kind's plan reads of such an object: a change of
	// others is no event. Objects that appear, go, or are replaced always are.
	Fields Fields
	// IsReconciled says that the kind reconciles these objects. What its controller
	// itself wrote into the status is no event. Concern enqueues further ones.
	IsReconciled bool
	// owner is the kind whose objects such an object concerns that name it as an
	// owner. What is there at the start is left out: its owner is there too, and is reconciled. Default: Concern says which.
	owner schema.GroupKind
	// Concern enqueues the objects that an event concerns. If nothing says
	// whom events concern, there are none.
	Concern Concern
	// ConcernsKnown says that Concern enqueues only objects of the read before it that has
	// IsReconciled, which its cache holds. It is not asked while there are none, so that a
	// kind which no user uses costs nothing per event.
	ConcernsKnown bool
	// CollectEvents has events collected before a reconcile, for resources of which many
	// change at once; see SettleTime.
	CollectEvents bool
	// SkipInitial leaves out what is there at the start. It is right for what concerns only objects that are reconciled then
	// themselves.
	SkipInitial bool
}

// Sources are the informers of a kind. Open makes them.
type Sources struct {
	pkg   string
	reads []Read
	own   []cache.SharedIndexInformer
	waits []*cacheWait
}

// Open makes the informers that the user does not share, and adds indexes. The package is
// that of the kind, for errors.
func Open(pkg string, reads []Read) (*Sources, error) {
	s := &Sources{pkg: pkg, reads: reads}
	if slices.ContainsFunc(reads, func(r Read) bool { return r.LiveReader != nil }) {
		if err := caches.CheckVersions(); err != nil {
			return nil, fmt.Errorf("%s: %w", pkg, err)
		}
	}
	for _, read := range reads {
		wait := &cacheWait{resource: read.Resource, shared: *read.Informer != nil}
		if !wait.shared {
			informer := read.MakeInformer()
			trim := read.Trim
			if trim == nil {
				trim = caches.Trim
			}
			_ = errors.Join(informer.SetTransform(trim), informer.SetWatchErrorHandlerWithContext(wait.note)) // fail only once it runs
			*read.Informer = informer
			s.own = append(s.own, informer)
		}
		informer := *read.Informer
		wait.synced = informer.HasSynced
		s.waits = append(s.waits, wait)
		if err := caches.AddIndexes(informer, read.Indexes...); err != nil {
			return nil, fmt.Errorf("%s: %w", pkg, err)
		}
	}
	return s, nil
}

// share sets the informers that the options do not name to those that a function returns.
func share(pkg string, reads []Read, informers func(runtime.Object) (cache.SharedIndexInformer, error)) error {
	for _, read := range reads {
		if informers == nil || *read.Informer != nil || read.IsPartial {
			continue
		}
		informer, err := informers(read.Object)
		if err != nil {
			return fmt.Errorf("%s: Options.Informers: %s: %w", pkg, read.Resource, err)
		}
		if informer != nil {
			*read.Informer = informer
		}
	}
	return nil
}

// Caches returns the caches of the informers.
func (s *Sources) Caches() caches.Reader { return Caches(s.reads) }

// Caches returns the caches of the informers that there are.
func Caches(reads []Read) caches.Reader {
	reader := caches.Reader{}
	for _, read := range reads {
		if *read.Informer != nil {
			reader[read.Resource] = (*read.Informer).GetIndexer()
		}
	}
	return reader
}

// Synced returns functions that tell whether the caches are filled.
func (s *Sources) Synced() (all []cache.InformerSynced) {
	for _, w := range s.waits {
		all = append(all, w.synced)
	}
	return all
}

// enqueues are how objects are enqueued: at once, after events have been collected, and since they are there at the start.
// What is nil is not used.
type enqueues struct{ now, collected, initial Enqueue }

// subscribe has events of the informers enqueue objects. wroteStatus may be nil, for a kind that writes none.
func (s *Sources) subscribe(to enqueues, wroteStatus wroteStatus) error {
	var objects *atomic.Int64
	for _, read := range s.reads {
		if read.IsReconciled {
			own, others := itself(wroteStatus), read.Concern
			read.Concern = func(e Event, enqueue Enqueue) {
				if own(e, enqueue); others != nil {
					others(e, enqueue)
				}
			}
		}
		if read.owner.Empty() && read.Concern == nil {
			continue
		}
		subscription := &subscription{
			fields: read.Fields | identity, owner: read.owner, concern: read.Concern, enqueue: to.now, initial: to.initial,
		}
		if read.CollectEvents {
			subscription.enqueue = to.collected
		}
		if read.SkipInitial || !read.owner.Empty() {
			subscription.initial = nil
		}
		if read.ConcernsKnown {
			subscription.objects = objects
		}
		reported, err := subscribe(*read.Informer, subscription)
		if err != nil {
			return fmt.Errorf("%s: watch: %w", s.pkg, err)
		}
		if read.IsReconciled {
			objects = reported
		}
	}
	return nil
}
