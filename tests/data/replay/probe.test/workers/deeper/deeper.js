self.deeper = "deeper";
