package caches

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

func AddMemberIndex(informer cache.SharedIndexInformer) error {
	if _, found := informer.GetIndexer().GetIndexers()["m"]; found {
		return nil
	}
	return informer.AddIndexers(cache.Indexers{"m": func(obj any) ([]string, error) {
		object, err := meta.Accessor(obj)
		if err != nil {
			return nil, err
		}
		i := strings.LastIndexByte(object.GetName(), '-')
		if i < 0 {
			return nil, nil
		}
		if _, err := strconv.ParseUint(object.GetName()[i+1:], 10, 31); err != nil {
			return nil, nil
		}
		return []string{object.GetNamespace() + "/" + object.GetName()[:i]}, nil
	}})
}

func Members[T any](indexer cache.Indexer, namespace, set string) ([]T, error) {
	objects, err := indexer.ByIndex("m", namespace+"/"+set)
	if err != nil {
		return nil, err
	}
	out := make([]T, 0, len(objects))
	for _, o := range objects {
		out = append(out, o.(T))
	}
	return out, nil
}
