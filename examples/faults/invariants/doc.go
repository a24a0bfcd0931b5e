// Package invariants says what must hold of the pods and claims of CloneSets and StatefulSets at every moment, whatever
// happens to the programs that keep them: it judges what the API server has stored, change by change. It knows the specs, and
// nothing of the planners.
//
// Nobody but the controllers may take pods out of service, move them or delete them while a [Judge] looks on, except that users
// change the specs. A controller acts on what it has seen, so a spec counts from when it is stored until the objects are
// [Judge.Settled] with a later one; what is done is right if it is right by one of the specs that count.
//
// The package does no I/O.
package invariants
