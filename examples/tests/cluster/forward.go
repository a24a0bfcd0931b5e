// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"io"
	"net"
	"sync"
)

// forward makes a port of our loopback interface appear on the node's.
func (n *RealNode) forward(address string) error {
	var listener net.Listener
	err := n.launcher.do(func() (err error) {
		listener, err = net.Listen("tcp", address)
		return err
	})
	if err != nil {
		return err
	}
	n.listeners = append(n.listeners, listener)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go join(connection.(*net.TCPConn), address)
		}
	}()
	return nil
}

// join copies between a connection and a new one to an address, each direction until its end.
func join(from *net.TCPConn, address string) {
	defer from.Close()
	connection, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	to := connection.(*net.TCPConn)
	defer to.Close()
	var group sync.WaitGroup
	for _, way := range [][2]*net.TCPConn{{from, to}, {to, from}} {
		group.Go(func() {
			_, _ = io.Copy(way[1], way[0])
			_ = way[1].CloseWrite()
		})
	}
	group.Wait()
}
