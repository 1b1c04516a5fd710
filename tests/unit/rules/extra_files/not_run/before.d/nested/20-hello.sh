#!/bin/bash
echo never
